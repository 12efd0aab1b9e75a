#include "plugins/jobs/history.hpp"

#include <algorithm>
#include <limits>

namespace jobs {
namespace {

namespace json = comfy::json;

struct names {
  status state;
  std::string_view text;
};
constexpr names table[] = {{status::queued, "queued"},       {status::running, "running"},
                           {status::succeeded, "succeeded"}, {status::canceling, "canceling"},
                           {status::canceled, "canceled"},   {status::failed, "failed"},
                           {status::expired, "expired"}};

// The history of one job repeats its graph, so an answer may be long; of values it has as many as the graph and its
// files.
constexpr json::limits generous{512, 64'000'000};

json::value object_of(const json::document& d, const char* what) {
  if (!d.ok()) throw not_comfyui{std::string(what) + " is not JSON"};
  if (!d.root().is_object()) throw not_comfyui{std::string(what) + " is not a JSON object"};
  return d.root();
}

// A string, or the digits of a number: node ids come as either.
std::optional<std::string> label(const json::value& v) {
  if (v.is_string()) return v.text();
  if (v.type() == json::kind::number) return std::string(v.raw());
  return std::nullopt;
}

std::int64_t timestamp_us(const json::value& message) {
  const std::optional<double> ms = message["timestamp"].number();
  return ms && *ms > 0 && *ms < 2e14 ? static_cast<std::int64_t>(*ms * 1000.0) : 0;
}

job_error error_of(const json::value& message) {
  job_error e{"node_execution_error", message["exception_message"].text(), label(message["node_id"]),
              label(message["node_type"])};
  if (e.message.empty()) e.message = "ComfyUI could not run the workflow and gave no reason";
  return e;
}

void read_message(const json::value& message, ending& out, bool& interrupted) {
  const json::value name = message.at(0), said = message.at(1);
  if (name.equals("execution_start")) out.started_us = timestamp_us(said);
  if (name.equals("execution_cached")) out.outputs_reused = out.outputs_reused || said["nodes"].size() > 0;
  if (name.equals("execution_interrupted")) interrupted = true;
  if (name.equals("execution_error") && !out.error) out.error = error_of(said);
  const bool last =
      name.equals("execution_success") || name.equals("execution_error") || name.equals("execution_interrupted");
  if (last && !out.completed_us) out.completed_us = timestamp_us(said);
}

}  // namespace

std::string_view to_text(status s) noexcept {
  for (const names& n : table)
    if (n.state == s) return n.text;
  return "failed";
}

std::optional<status> parse_status(std::string_view text) noexcept {
  for (const names& n : table)
    if (n.text == text) return n.state;
  return std::nullopt;
}

std::optional<ending> read_history(std::string_view text, std::string_view id) {
  const json::document d(text, generous, json::dialect::tolerant);
  const json::value entry = object_of(d, "the answer to /history")[id];
  if (!entry.is_object()) return std::nullopt;
  ending out;
  bool interrupted = false;
  const json::value said = entry["status"];
  for (const json::value message : said["messages"].elements()) read_message(message, out, interrupted);
  const json::value word = said["status_str"];
  if (interrupted)
    out.state = status::canceled;
  else if (!word.is_string() || word.equals("success"))
    out.state = status::succeeded;
  else
    out.state = status::failed;
  if (out.state != status::failed)
    out.error.reset();
  else if (!out.error)
    out.error = error_of(json::value());
  for (const json::member node : entry["outputs"].members())
    read_node_outputs(node.key.text(), node.content, out.outputs);
  return out;
}

queue_snapshot read_queue(std::string_view text) {
  const json::document d(text, generous, json::dialect::tolerant);
  const json::value root = object_of(d, "the answer to /queue"), running = root["queue_running"],
                    pending = root["queue_pending"];
  if (!running.is_array() || !pending.is_array()) throw not_comfyui{"the answer to /queue has no queue in it"};
  queue_snapshot out;
  for (const json::value item : running.elements())
    if (const auto id = parse_job_id(item.at(1).text())) out.running.insert(*id);
  // ComfyUI keeps a heap: what is next follows from the numbers alone.
  std::vector<std::pair<double, std::optional<job_id>>> order;
  for (const json::value item : pending.elements())
    order.emplace_back(item.at(0).number().value_or(std::numeric_limits<double>::max()),
                       parse_job_id(item.at(1).text()));
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::uint32_t position = 0;
  for (const auto& entry : order) {
    ++position;
    if (entry.second) out.pending.emplace(*entry.second, position);
  }
  return out;
}

bool read_cancelled(std::string_view text) {
  const json::document d(text, {}, json::dialect::tolerant);
  return object_of(d, "the answer to a cancel")["cancelled"].truth();
}

}  // namespace jobs
