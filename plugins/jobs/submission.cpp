#include "plugins/jobs/submission.hpp"

#include <algorithm>
#include <portico/response.hpp>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"

namespace jobs {
namespace {

namespace json = comfy::json;
using portico::http_error;

constexpr std::size_t max_metadata = 1024;
constexpr std::int64_t max_priority = 1'000'000;

http_error invalid_request(int status, std::string message) {
  return http_error(status, comfy::code::invalid_request, std::move(message));
}
http_error invalid_workflow(std::string message) {
  return http_error(422, comfy::code::invalid_workflow, std::move(message));
}

reference read_reference(const json::value& object, std::size_t graph_begin) {
  const std::size_t begin = object.offset() - graph_begin;
  const json::value info = object["info"];
  return {begin, begin + object.raw().size(), info.is_object(), info["id"].text(), info["hash"].text()};
}

// Depth is bounded by the parser.
void find_references(const json::value& v, std::size_t graph_begin, std::vector<reference>& found) {
  if (v.is_object() && v["__type"].equals("core/ASSET")) {
    found.push_back(read_reference(v, graph_begin));
    return;
  }
  for (const json::member m : v.members()) find_references(m.content, graph_begin, found);
  for (const json::value e : v.elements()) find_references(e, graph_begin, found);
}

std::uint32_t count_names(const json::value& object) {
  std::vector<std::string> names;
  for (const json::member m : object.members()) names.push_back(m.key.text());
  std::sort(names.begin(), names.end());
  return static_cast<std::uint32_t>(std::unique(names.begin(), names.end()) - names.begin());
}

void read_graph(const json::value& root, submission& out) {
  for (const char* reserved : {"webhook_url", "inputs"})
    if (!root[reserved].is_absent_or_null())
      throw invalid_workflow(std::string("\"") + reserved + "\" is reserved and must not be sent");
  const json::value graph = root["workflow"];
  if (!graph.is_object()) throw invalid_workflow("\"workflow\" must be an object: a graph in ComfyUI's API format");
  if (graph["nodes"].is_array() && graph["links"])
    throw http_error(
        422, comfy::code::workflow_format_ui,
        "this is a workflow as the ComfyUI editor saves it; export it with \"Export (API)\" and send that");
  out.graph = graph.raw();
  out.node_count = count_names(graph);
}

void read_labels(const json::value& root, submission& out) {
  if (const json::value metadata = root["metadata"]; !metadata.is_absent_or_null()) {
    if (!metadata.is_string()) throw invalid_request(422, "\"metadata\" must be a string");
    out.metadata = metadata.text();
    if (out.metadata->size() > max_metadata)
      throw invalid_request(
          422, "\"metadata\" must be at most 1024 bytes of UTF-8; it has " + std::to_string(out.metadata->size()));
  }
  if (const json::value priority = root["priority"]; !priority.is_absent_or_null()) {
    const std::optional<std::int64_t> n = priority.integer();
    if (!n || *n < -max_priority || *n > max_priority)
      throw invalid_request(422, "\"priority\" must be an integer from -1000000 to 1000000");
    out.priority = static_cast<std::int32_t>(*n);
  }
}

void read_extra_data(const json::value& root, submission& out) {
  const json::value extra = root["extra_data"];
  if (extra.is_absent_or_null()) return;
  if (!extra.is_object()) throw invalid_request(400, "\"extra_data\" must be an object");
  for (const json::member m : extra.members())
    if (!m.key.equals("api_key_comfy_org") || !m.content.is_string())
      throw invalid_request(400, "\"extra_data\" may hold \"api_key_comfy_org\", a string, and nothing else");
  if (const json::value key = extra["api_key_comfy_org"])
    out.extra_data = "{\"api_key_comfy_org\":" + std::string(key.raw()) + "}";
}

}  // namespace

std::string reference::name() const {
  if (!has_info) return "<malformed core/ASSET: missing info>";
  if (!id.empty()) return id;
  return hash.empty() ? "<no id>" : hash;
}

submission read_submission(std::string_view body) {
  const json::document d(body);
  if (!d.ok())
    throw invalid_request(400, "the body must be JSON: " + std::string(d.error()) + " (at byte " +
                                   std::to_string(d.error_offset()) + ")");
  const json::value root = d.root();
  if (!root.is_object()) throw invalid_request(400, "the body must be a JSON object");
  submission out;
  read_graph(root, out);
  read_labels(root, out);
  read_extra_data(root, out);
  const json::value graph = root["workflow"];
  find_references(graph, graph.offset(), out.references);
  return out;
}

std::string replace_references(std::string_view graph, const std::vector<reference>& references,
                               const std::vector<std::string>& texts) {
  std::string out;
  out.reserve(graph.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < references.size(); ++i) {
    out.append(graph.substr(at, references[i].begin - at));
    portico::append_json_string(out, texts[i]);
    at = references[i].end;
  }
  return out.append(graph.substr(at));
}

}  // namespace jobs
