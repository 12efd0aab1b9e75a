// plugins/jobs/progress.hpp - how far a running job is, from what ComfyUI says of its nodes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "plugins/comfy/json.hpp"

namespace jobs {

struct progress {
  double value = 0;  // 0 to 1, never falling
  std::uint32_t nodes_done = 0, nodes_total = 0;
  std::optional<std::string> current_node, current_node_class;
  std::optional<std::int64_t> step, steps;
  bool operator==(const progress&) const = default;
};
// Appends the Progress object of the contract.
void append_progress(std::string& out, const progress&);

// Adds up one job's messages.  The whole is the number of nodes of the submitted graph: ComfyUI lists only the nodes it
// has come to, so a fraction of those would jump to 1 and fall back.  Each function says whether now() has changed.
class progress_meter {
 public:
  explicit progress_meter(std::uint32_t nodes) { now_.nodes_total = nodes; }
  const progress& now() const noexcept { return now_; }

  bool states(const comfy::json::value& nodes);  // progress_state: {id:{value,max,state}}
  bool step(std::string_view node, std::optional<double> value, std::optional<double> max);  // progress
  bool executing(std::string_view node);
  bool done(std::string_view node);              // executed
  bool cached(const comfy::json::value& nodes);  // execution_cached: [ids]
  // The class of the current node; forgotten when another node becomes current.
  void set_class(std::string name) { now_.current_node_class = std::move(name); }

 private:
  bool settle(const progress& before, double finished);

  progress now_;
  bool has_states_ = false;  // progress_state tells all; what older messages say of finished nodes is not mixed in
  std::unordered_set<std::string> done_;  // for a ComfyUI that sends no progress_state
};

}  // namespace jobs
