// plugins/jobs/submission.hpp - the body of POST /api/v2/jobs: what it must look like, and the references in its graph.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jobs {

// One core/ASSET object of a graph: where it stands, and what its info says.
struct reference {
  std::size_t begin, end;  // bytes in the graph's text
  bool has_info;           // else it can only be reported
  std::string id, hash;    // empty where the info says nothing
  // How a client is told that this one cannot be resolved.
  std::string name() const;
};

struct submission {
  std::string_view graph;  // the workflow as written; a view into the body
  std::uint32_t node_count = 0;
  std::vector<reference> references;
  std::optional<std::string> metadata;
  std::optional<std::int32_t> priority;
  std::string extra_data;  // JSON to be sent along, or empty.  Secret: never stored, never logged
};

// Throws portico::http_error with the contract's status and code for the first check that fails.
submission read_submission(std::string_view body);

// The graph with each reference replaced by a JSON string of its text; texts in the order of the references.
std::string replace_references(std::string_view graph, const std::vector<reference>&,
                               const std::vector<std::string>& texts);

}  // namespace jobs
