#include "plugins/comfyui_standin/knobs.hpp"

#include <utility>

namespace standin {
namespace {

// Reads one member into its place; the text of the fault, or nothing.
class reader {
 public:
  explicit reader(const std::string& key, const json& value) : key_(key), value_(value) {}
  std::optional<std::string> into(bool& out) {
    if (value_.type() != json::kind::boolean) return wrong("true or false");
    return out = value_.truthy(), std::nullopt;
  }
  std::optional<std::string> into(std::string& out) {
    if (!value_.is_text()) return wrong("a string");
    return out = value_.str(), std::nullopt;
  }
  std::optional<std::string> into(std::chrono::milliseconds& out) {
    if (!value_.is_number() || value_.as_real() < 0) return wrong("milliseconds, 0 or more");
    return out = std::chrono::milliseconds(value_.as_integer()), std::nullopt;
  }
  std::optional<std::string> into(std::int64_t& out) {
    if (!value_.is_number()) return wrong("a number");
    return out = value_.as_integer(), std::nullopt;
  }
  std::optional<std::string> into(std::uint64_t& out) {
    if (!value_.is_number() || value_.as_real() < 0) return wrong("a number, 0 or more");
    return out = value_.as_unsigned(), std::nullopt;
  }
  std::optional<std::string> into(int& out) {
    if (!value_.is_number()) return wrong("a number");
    return out = static_cast<int>(value_.as_integer()), std::nullopt;
  }
  std::optional<std::string> into(std::vector<std::string>& out) {
    if (!value_.is_array()) return wrong("an array of strings");
    out.clear();
    for (const json& item : value_.items()) {
      if (!item.is_text()) return wrong("an array of strings");
      out.push_back(item.str());
    }
    return std::nullopt;
  }
  std::optional<std::string> into(json& out) {
    if (!value_.is_object()) return wrong("an object");
    return out = value_, std::nullopt;
  }
  std::optional<std::string> into(std::map<std::string, fault>& out);
  std::optional<std::string> wrong(const char* allowed) const {
    return '"' + key_ + "\" is " + value_.print() + "; it must be " + allowed;
  }

 private:
  const std::string& key_;
  const json& value_;
};

std::optional<std::string> unknown(const std::string& key, const char* known) {
  return "there is no \"" + key + "\" here; known: " + known;
}

std::optional<std::string> read_fault(const json& from, fault& f) {
  for (const auto& [key, value] : from.members()) {
    reader r(key, value);
    std::optional<std::string> wrong;
    if (key == "times")
      wrong = r.into(f.times);
    else if (key == "delay_ms")
      wrong = r.into(f.delay);
    else if (key == "after")
      wrong = r.into(f.after);
    else if (key == "drop")
      wrong = r.into(f.drop);
    else if (key == "status")
      wrong = r.into(f.status);
    else if (key == "body")
      wrong = r.into(f.body);
    else if (key == "content_type")
      wrong = r.into(f.content_type);
    else if (key == "cut_at")
      wrong = r.into(f.cut_at);
    else
      wrong = unknown(key, "times, delay_ms, after, drop, status, body, content_type, cut_at");
    if (wrong) return wrong;
    if (f.status && (f.status < 200 || f.status > 599)) return r.wrong("0, or 200 to 599");
  }
  return std::nullopt;
}

// A route's fault: an object replaces it, null removes it.
std::optional<std::string> reader::into(std::map<std::string, fault>& out) {
  if (value_.is_null()) return out.clear(), std::nullopt;
  if (!value_.is_object()) return wrong("an object, by route");
  for (const auto& [route, what] : value_.members()) {
    if (what.is_null()) {
      out.erase(route);
      continue;
    }
    if (!what.is_object()) return wrong("an object, by route");
    fault f;
    if (std::optional<std::string> told = read_fault(what, f)) return told;
    out[route] = std::move(f);
  }
  return std::nullopt;
}

json print_fault(const fault& f) {
  json out = json::object();
  out.set("times", json::integer(f.times));
  out.set("delay_ms", json::integer(f.delay.count()));
  out.set("after", json::boolean(f.after));
  out.set("drop", json::boolean(f.drop));
  out.set("status", json::integer(f.status));
  out.set("body", json::text(f.body));
  out.set("content_type", json::text(f.content_type));
  out.set("cut_at", json::integer(f.cut_at));
  return out;
}

json tally(const std::map<std::string, std::int64_t>& counts) {
  json out = json::object();
  for (const auto& [name, n] : counts) out.set(name, json::integer(n));
  return out;
}

}  // namespace

std::optional<std::string> knobs::apply(const json& patch) {
  if (!patch.is_object()) return "knobs are set with a JSON object";
  knobs next = *this;
  for (const auto& [key, value] : patch.members()) {
    reader r(key, value);
    std::optional<std::string> wrong;
    if (key == "step_delay_ms")
      wrong = r.into(next.step_delay);
    else if (key == "node_delay_ms")
      wrong = r.into(next.node_delay);
    else if (key == "history_delay_ms")
      wrong = r.into(next.history_delay);
    else if (key == "previews")
      wrong = r.into(next.previews);
    else if (key == "preview_bytes")
      wrong = r.into(next.preview_bytes);
    else if (key == "hang")
      wrong = r.into(next.hang);
    else if (key == "fail_node")
      wrong = r.into(next.fail_node);
    else if (key == "error_text")
      wrong = r.into(next.error_text);
    else if (key == "error_type")
      wrong = r.into(next.error_type);
    else if (key == "jobs_api")
      wrong = r.into(next.jobs_api);
    else if (key == "websocket")
      wrong = r.into(next.websocket);
    else if (key == "unread_stalls")
      wrong = r.into(next.unread_stalls);
    else if (key == "lose_outputs")
      wrong = r.into(next.lose_outputs);
    else if (key == "filenames")
      wrong = r.into(next.filenames);
    else if (key == "outputs")
      wrong = r.into(next.outputs);
    else if (key == "faults")
      wrong = r.into(next.faults);
    else
      wrong = unknown(key,
                      "step_delay_ms, node_delay_ms, history_delay_ms, previews, preview_bytes, hang, fail_node, "
                      "error_text, error_type, "
                      "jobs_api, websocket, unread_stalls, lose_outputs, filenames, outputs, faults");
    if (wrong) return wrong;
  }
  if (next.preview_bytes > (64u << 20)) return "\"preview_bytes\" must be at most 67108864";
  const std::string& ws = next.websocket;
  if (ws != "normal" && ws != "deaf" && ws != "refuse" && ws != "close")
    return "\"websocket\" must be normal, deaf, refuse or close";
  *this = std::move(next);
  return std::nullopt;
}

json knobs::print() const {
  json out = json::object(), names = json::array(), all_faults = json::object();
  for (const std::string& name : filenames) names.push(json::text(name));
  for (const auto& [route, f] : faults) all_faults.set(route, print_fault(f));
  out.set("step_delay_ms", json::integer(step_delay.count()));
  out.set("node_delay_ms", json::integer(node_delay.count()));
  out.set("history_delay_ms", json::integer(history_delay.count()));
  out.set("previews", json::boolean(previews));
  out.set("preview_bytes", json::integer(static_cast<std::int64_t>(preview_bytes)));
  out.set("hang", json::boolean(hang));
  out.set("fail_node", json::text(fail_node));
  out.set("error_text", json::text(error_text));
  out.set("error_type", json::text(error_type));
  out.set("jobs_api", json::boolean(jobs_api));
  out.set("websocket", json::text(websocket));
  out.set("unread_stalls", json::boolean(unread_stalls));
  out.set("lose_outputs", json::boolean(lose_outputs));
  out.set("filenames", std::move(names));
  out.set("outputs", outputs);
  out.set("faults", std::move(all_faults));
  return out;
}

void counters::saw_prompt(const std::string& id, std::string body, json headers) {
  if (prompts_.size() < max_ids || prompts_.count(id)) ++prompts_[id];
  last_prompt_ = body.size() > max_kept_body ? std::string() : std::move(body);
  last_headers_ = std::move(headers);
}

json counters::print(std::size_t sockets_open) const {
  json out = json::object(), sockets = json::object();
  out.set("calls", tally(calls_));
  out.set("prompts", tally(prompts_));
  out.set("last_prompt", json::text(last_prompt_));
  out.set("last_prompt_headers", last_headers_);
  out.set("last_view", json::text(last_view_));
  sockets.set("opened", json::integer(sockets_opened_));
  sockets.set("open", json::integer(static_cast<std::int64_t>(sockets_open)));
  out.set("websockets", std::move(sockets));
  return out;
}

}  // namespace standin
