// Prompts: taken in, listed, cancelled, looked up.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <random>

#include "plugins/comfyui_standin/standin.hpp"
#include "plugins/comfyui_standin/validate.hpp"

namespace standin {
namespace {

portico::response json_reply(int status, std::string text) { return portico::response::json(status, std::move(text)); }
// What aiohttp makes of a handler that raised.
portico::response python_error() {
  return portico::response::text(500, "500 Internal Server Error\n\nServer got itself in trouble");
}

std::string new_uuid() {
  static std::mt19937_64 random{std::random_device{}()};  // only ever used on loop 0
  unsigned long long a = random(), b = random();
  a = (a & 0xFFFFFFFFFFFF0FFFu) | 0x4000u;
  b = (b & 0x3FFFFFFFFFFFFFFFu) | 0x8000000000000000u;
  char text[40];
  std::snprintf(text, sizeof text, "%08llx-%04llx-%04llx-%04llx-%012llx", a >> 32, a >> 16 & 0xFFFF, a & 0xFFFF,
                b >> 48, b & 0xFFFFFFFFFFFFu);
  return text;
}

std::string refusal(json error, json node_errors) {
  json out = json::object();
  out.set("error", std::move(error));
  out.set("node_errors", std::move(node_errors));
  return out.print();
}

// A number as Python prints a float.
std::string python_float(double n) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", n);
  return std::string(text).find_first_of(".en") == std::string::npos ? std::string(text) + ".0" : text;
}

std::int64_t timestamp_of(const json& message_data) {
  const json* t = message_data.find("timestamp");
  return t ? t->as_integer() : 0;
}

}  // namespace

standin::reply standin::post_prompt(const call& c) {
  const std::optional<json> body = json::parse(c.body);
  if (!body || !body->is_object()) return python_error();
  const json* id = body->find("prompt_id");
  const std::string prompt_id = id && id->is_text() ? id->str() : id ? id->print() : new_uuid();
  json headers = json::object();
  for (const auto& [name, text] : c.headers) headers.set(name, json::text(text));
  counters_.saw_prompt(prompt_id, c.body, std::move(headers));
  if (log_prompts_) server().log(portico::level::info, "prompt " + prompt_id);

  prompt p;
  const json *number = body->find("number"), *front = body->find("front");
  if (number) {
    p.number = number->is_text() ? std::strtod(number->str().c_str(), nullptr) : number->as_real();
    p.number_text = python_float(p.number);
  } else {
    const std::int64_t next = queue_.next_number(front && front->truthy());
    p.number = static_cast<double>(next);
    p.number_text = std::to_string(next);
  }
  const json* graph = body->find("prompt");
  if (!graph)
    return json_reply(400, refusal(problem("no_prompt", "No prompt provided", "No prompt provided"), json::object()));
  if (!is_canonical_uuid(prompt_id))
    return json_reply(
        400, refusal(problem("invalid_prompt_id", "prompt_id must be a canonical UUID", prompt_id), json::object()));
  verdict v = validate(*graph, [this](const std::string& name) { return executor_.file_serial(name) != 0; });
  if (!v.accepted) return json_reply(400, refusal(std::move(v.error), std::move(v.node_errors)));

  p.id = prompt_id;
  p.graph = *graph;
  p.targets = std::move(v.targets);
  const json *extra = body->find("extra_data"), *client = body->find("client_id");
  p.extra_data = json::object();
  if (extra)
    for (const auto& [name, given] : extra->members())  // keys that are secrets are never listed
      if (name != "api_key_comfy_org" && name != "auth_token_comfy_org") p.extra_data.set(name, given);
  if (client) p.extra_data.set("client_id", *client);
  if (client && client->is_text()) p.client_id = client->str();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  p.extra_data.set("create_time", json::integer(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));

  json out = json::object();
  out.set("prompt_id", json::text(p.id));
  out.set("number", json::number(p.number_text));
  out.set("node_errors", std::move(v.node_errors));
  queue_.put(std::make_shared<const prompt>(std::move(p)));
  hub_.queue_changed();
  executor_.prompt_queued();
  return json_reply(200, out.print());
}

standin::reply standin::get_prompt(const call&) {
  return json_reply(200, "{\"exec_info\":{\"queue_remaining\":" + std::to_string(queue_.remaining()) + "}}");
}

standin::reply standin::get_queue(const call&) { return json_reply(200, queue_.text()); }

standin::reply standin::post_queue(const call& c) {
  const std::optional<json> body = c.body_json();
  if (!body) return python_error();
  const json *clear = body->find("clear"), *ids = body->find("delete");
  if (clear && clear->truthy()) {
    queue_.clear();
    hub_.queue_changed();
  }
  if (ids)
    for (const json& id : ids->items())
      if (queue_.erase(id.str())) hub_.queue_changed();
  return portico::response(200);
}

standin::reply standin::get_history(const call& c) {
  std::int64_t max = -1;
  const std::string text = c.query("max_items");
  std::from_chars(text.data(), text.data() + text.size(), max);
  return json_reply(200, queue_.history_text(max));
}

standin::reply standin::get_history_of(const call& c) {
  const history_entry* found = queue_.find(c.id);
  if (!found) return json_reply(200, "{}");
  std::string out = "{";
  portico::append_json_string(out, c.id);
  return json_reply(200, out.append(":").append(found->text()).append("}"));
}

standin::reply standin::post_history(const call& c) {
  const std::optional<json> body = c.body_json();
  if (!body) return python_error();
  const json *clear = body->find("clear"), *ids = body->find("delete");
  if (clear && clear->truthy()) queue_.clear_history();
  if (ids)
    for (const json& id : ids->items()) queue_.erase_history(id.str());
  return portico::response(200);
}

bool standin::interrupt_if_running(const std::string& id) {
  if (!queue_.running() || queue_.running()->id != id) return false;
  executor_.interrupt();
  return true;
}

standin::reply standin::post_interrupt(const call& c) {
  const std::optional<json> body = c.body_json();
  const json* id = body ? body->find("prompt_id") : nullptr;
  if (id && id->truthy())
    interrupt_if_running(id->str());
  else
    executor_.interrupt();
  return portico::response(200);
}

std::string standin::job_text(const std::string& id) const {
  json out = json::object();
  const prompt_ptr& running = queue_.running();
  const history_entry* past = queue_.find(id);
  const prompt* job = past ? past->job.get() : running && running->id == id ? running.get() : nullptr;
  for (const prompt_ptr& p : queue_.waiting())
    if (!job && p->id == id) job = p.get();
  if (!job) return {};
  std::string status = running.get() == job ? "in_progress" : "pending";
  std::int64_t started = 0, ended = 0;
  const json* error = nullptr;
  std::size_t outputs = 0;
  if (past) {
    status = past->result.completed ? "completed" : "failed";
    for (const auto& [name, data] : past->result.messages) {
      if (name == "execution_start") started = timestamp_of(data);
      if (name == "execution_success" || name == "execution_error" || name == "execution_interrupted")
        ended = timestamp_of(data);
      if (name == "execution_error") error = &data;
      if (name == "execution_interrupted") status = "cancelled";
    }
    for (const auto& [node, shown] : past->result.outputs.members())
      for (const auto& [kind, items] : shown.members()) outputs += items.items().size();
  }
  out.set("id", json::text(job->id));
  out.set("status", json::text(status));
  out.set("priority", json::number(job->number_text));
  if (const json* created = job->extra_data.find("create_time")) out.set("create_time", *created);
  if (started) out.set("execution_start_time", json::integer(started));
  if (ended) out.set("execution_end_time", json::integer(ended));
  if (error) out.set("execution_error", *error);
  out.set("outputs_count", json::integer(static_cast<std::int64_t>(outputs)));
  if (past) {
    out.set("outputs", past->result.outputs);
    out.set("execution_status", json::parse(past->status_text()).value_or(json()));
  }
  json workflow = json::object();
  workflow.set("prompt", job->graph);
  workflow.set("extra_data", job->extra_data);
  out.set("workflow", std::move(workflow));
  return out.print();
}

standin::reply standin::get_job(const call& c) {
  if (!knobs_.jobs_api) return portico::response::text(404, "404: Not Found");
  std::string text = job_text(c.id);
  return text.empty() ? json_reply(404, "{\"error\":\"Job not found\"}") : json_reply(200, std::move(text));
}

standin::reply standin::cancel_job(const call& c) {
  if (!knobs_.jobs_api) return portico::response::text(404, "404: Not Found");
  const bool waiting = queue_.erase(c.id);
  if (waiting) hub_.queue_changed();
  const bool cancelled = waiting || interrupt_if_running(c.id);
  return json_reply(200, cancelled ? "{\"cancelled\":true}" : "{\"cancelled\":false}");
}

}  // namespace standin
