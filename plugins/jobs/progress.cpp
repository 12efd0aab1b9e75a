#include "plugins/jobs/progress.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <portico/response.hpp>

namespace jobs {
namespace {

namespace json = comfy::json;

double fraction(double value, double max) noexcept { return max > 0 && value > 0 ? std::min(value / max, 1.0) : 0.0; }

std::optional<std::int64_t> whole(std::optional<double> n) noexcept {
  if (!n || *n < 0 || *n > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*n);
}

}  // namespace

void append_progress(std::string& out, const progress& p) {
  char digits[32];
  const auto number = std::to_chars(digits, digits + sizeof digits, p.value);
  out.append("{\"value\":").append(digits, number.ptr);
  out.append(",\"nodes_done\":").append(std::to_string(p.nodes_done));
  out.append(",\"nodes_total\":").append(std::to_string(p.nodes_total)).append(",\"current_node\":");
  if (p.current_node)
    portico::append_json_string(out, *p.current_node);
  else
    out += "null";
  if (p.current_node_class) portico::append_json_string(out.append(",\"current_node_class\":"), *p.current_node_class);
  if (p.step) out.append(",\"step\":").append(std::to_string(*p.step));
  if (p.steps) out.append(",\"steps\":").append(std::to_string(*p.steps));
  out += '}';
}

bool progress_meter::states(const json::value& nodes) {
  if (!nodes.is_object()) return false;
  const progress before = now_;
  has_states_ = true;
  std::size_t finished = 0;
  double running = 0;
  now_.current_node.reset();
  now_.step = now_.steps = std::nullopt;
  for (const json::member m : nodes.members()) {
    const json::value state = m.content["state"];
    if (state.equals("finished")) ++finished;
    if (!state.equals("running") || now_.current_node) continue;
    now_.current_node = m.key.text();
    const std::optional<double> value = m.content["value"].number(), max = m.content["max"].number();
    running = fraction(value.value_or(0), max.value_or(0));
    now_.step = whole(value);
    now_.steps = whole(max);
  }
  now_.nodes_done =
      std::max(now_.nodes_done, static_cast<std::uint32_t>(std::min<std::size_t>(finished, now_.nodes_total)));
  return settle(before, static_cast<double>(finished) + running);
}

bool progress_meter::step(std::string_view node, std::optional<double> value, std::optional<double> max) {
  const progress before = now_;
  if (!node.empty()) now_.current_node = std::string(node);
  now_.step = whole(value);
  now_.steps = whole(max);
  if (has_states_) return !(now_ == before);
  return settle(before, static_cast<double>(done_.size()) + fraction(value.value_or(0), max.value_or(0)));
}

bool progress_meter::executing(std::string_view node) {
  const progress before = now_;
  if (now_.current_node && *now_.current_node != node && !has_states_) done_.insert(*now_.current_node);
  if (before.current_node != std::string(node)) now_.step = now_.steps = std::nullopt;
  now_.current_node = std::string(node);
  return settle(before, static_cast<double>(done_.size()));
}

bool progress_meter::done(std::string_view node) {
  const progress before = now_;
  if (!has_states_ && !node.empty()) done_.insert(std::string(node));
  return settle(before, static_cast<double>(done_.size()));
}

bool progress_meter::cached(const json::value& nodes) {
  const progress before = now_;
  if (!has_states_)
    for (const json::value node : nodes.elements())
      if (node.is_string()) done_.insert(node.text());
  return settle(before, static_cast<double>(done_.size()));
}

// finished: nodes that are over, and the part of the one that runs.  Nodes that a graph grows while it runs count too,
// so it can pass the whole.
bool progress_meter::settle(const progress& before, double finished) {
  const double total = now_.nodes_total;
  if (total > 0) now_.value = std::max(now_.value, std::min(finished / total, 1.0));
  if (!has_states_)
    now_.nodes_done = std::max(now_.nodes_done, std::min(static_cast<std::uint32_t>(done_.size()), now_.nodes_total));
  if (now_.current_node != before.current_node) now_.current_node_class.reset();
  return !(now_ == before);
}

}  // namespace jobs
