#include "plugins/comfyui_standin/executor.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "plugins/comfyui_standin/nodes.hpp"

namespace standin {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

json about(const std::string& node, const std::string& prompt_id) {
  json data = json::object();
  data.set("node", json::text(node));
  data.set("display_node", json::text(node));
  data.set("prompt_id", json::text(prompt_id));
  return data;
}

}  // namespace

executor::executor(portico::host h, prompt_queue& q, folders& f, hub& told, knobs& k)
    : host_(h), queue_(q), folders_(f), hub_(told), knobs_(k), wake_(h, 0) {}

void executor::forget() {
  ++epoch_;
  cache_.clear();
  hub_.now_running({}, {});
}

std::uint64_t executor::file_serial(const std::string& annotated) const {
  const file_name named = file_named(annotated);
  const std::optional<std::string> path = folders::inside({}, named.path);
  const stored_file* file = path ? folders_.find(named.type, *path) : nullptr;
  return file ? file->serial : 0;
}

void executor::tell(course& c, const char* event, json data, bool to_all) {
  data.set("prompt_id", json::text(c.job->id));
  data.set("timestamp", json::integer(now_ms()));
  if (!c.job->client_id.empty() || to_all) hub_.send(event, data, c.job->client_id);
  c.result.messages.emplace_back(event, std::move(data));
}

// progress_state names every node that has begun so far, and no other.
void executor::tell_progress(course& c, const std::string& id, const char* state, std::int64_t done, std::int64_t max) {
  auto at = c.progress.begin();
  while (at != c.progress.end() && at->first != id) ++at;
  if (at == c.progress.end()) at = c.progress.insert(at, {id, {}});
  at->second = {state, done, max};
  if (c.job->client_id.empty() || !hub_.is_listening(c.job->client_id)) return;
  json nodes = json::object(), data = json::object();
  for (const auto& [node, p] : c.progress) {
    json entry = json::object();
    entry.set("value", json::integer(p.value));
    entry.set("max", json::integer(p.max));
    entry.set("state", json::text(p.state));
    entry.set("node_id", json::text(node));
    entry.set("prompt_id", json::text(c.job->id));
    entry.set("display_node_id", json::text(node));
    entry.set("parent_node_id", json());
    entry.set("real_node_id", json::text(node));
    nodes.set(node, std::move(entry));
  }
  data.set("prompt_id", json::text(c.job->id));
  data.set("nodes", std::move(nodes));
  hub_.send("progress_state", data, c.job->client_id);
}

void executor::tell_executed(course& c, const std::string& id, const std::optional<json>& shown) {
  if (shown) c.result.outputs.set(id, *shown);
  if (c.job->client_id.empty()) return;
  json data = about(id, c.job->id);
  data.set("output", shown ? *shown : json());
  hub_.send("executed", data, c.job->client_id);
}

void executor::tell_failure(course& c, const std::string& type, const std::string& text) {
  const json* node = c.job->graph.find(c.node);
  json data = json::object(), executed = json::array(), trace = json::array();
  for (const std::string& id : c.done) executed.push(json::text(id));
  data.set("node_id", json::text(c.node));
  data.set("node_type", node ? *node->find("class_type") : json());
  data.set("executed", std::move(executed));
  if (type.empty()) return tell(c, "execution_interrupted", std::move(data), true);
  trace.push(json::text("  File \"execution.py\", line 1, in execute\n"));
  data.set("exception_message", json::text(text));
  data.set("exception_type", json::text(type));
  data.set("traceback", std::move(trace));
  data.set("current_inputs", json::object());
  data.set("current_outputs", json::array());
  tell(c, "execution_error", std::move(data));
}

void executor::check(const course& c) const {
  if (c.epoch != epoch_) throw forgotten{};
  if (interrupted_) throw interrupted{};
}

// In slices, so that an interrupt is seen soon.
portico::task<void> executor::pause(course& c, std::chrono::milliseconds d) {
  const auto until = std::chrono::steady_clock::now() + d;
  for (auto left = d; left.count() > 0;) {
    co_await portico::sleep(host_, std::min(left, std::chrono::milliseconds(20)));
    check(c);
    left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  }
}

portico::task<void> executor::run() {
  for (;;) {
    const prompt_ptr job = queue_.take();
    if (!job) {
      co_await wake_;
      continue;
    }
    hub_.queue_changed();
    co_await execute(job);
  }
}

portico::task<void> executor::execute(prompt_ptr job) {
  course c(std::move(job));
  c.epoch = epoch_;
  interrupted_ = false;
  std::optional<std::pair<std::string, std::string>> failure;  // type and text; no type: interrupted
  try {
    co_await work_through(c);
    c.result.completed = true;
    tell(c, "execution_success", json::object());
    // ComfyUI tells first and writes its history after: whoever asks at once finds the prompt still running.
    co_await portico::sleep(host_, knobs_.history_delay);
  } catch (const forgotten&) {
  } catch (const interrupted&) {
    failure.emplace();
  } catch (const node_failure& f) {
    failure.emplace(f.type(), f.what());
  } catch (const portico::error& e) {
    if (e.code() == PORTICO_E_CANCELLED) throw;  // the server stops
    failure.emplace("RuntimeError", e.what());
  } catch (const std::exception& e) {
    failure.emplace("RuntimeError", e.what());
  }
  if (c.epoch != epoch_) co_return;
  if (failure) tell_failure(c, failure->first, failure->second);
  hub_.now_running({}, {});
  queue_.finish(std::move(c.result));
  hub_.queue_changed();
  if (c.job->client_id.empty()) co_return;
  json data = json::object();
  data.set("node", json());
  data.set("prompt_id", json::text(c.job->id));
  hub_.send("executing", data, c.job->client_id);
}

portico::task<void> executor::work_through(course& c) {
  signatures signed_as(c.job->graph, [this](const std::string& name) { return file_serial(name); });
  std::vector<std::uint64_t> used;
  json cached_nodes = json::array(), data = json::object();
  tell(c, "execution_start", json::object());
  const std::vector<std::string> order = order_of(c, signed_as, used, cached_nodes);
  data.set("nodes", std::move(cached_nodes));
  tell(c, "execution_cached", std::move(data));
  cache_.keep(used);
  for (const std::string& id : order) {
    check(c);
    if (const cached* known = cache_.find(signed_as.of(id))) {  // an output node whose result is at hand
      tell_progress(c, id, "finished", 1, 1);
      tell_executed(c, id, known->shown);
      continue;
    }
    co_await perform(c, id);
    cache_.put(signed_as.of(id), c.made[id]);
  }
}

// The nodes to run, each after those it needs.  What is cached counts as made; cached output nodes are listed all the
// same.
std::vector<std::string> executor::order_of(course& c, signatures& signed_as, std::vector<std::uint64_t>& used,
                                            json& cached_nodes) {
  std::vector<std::string> order;
  std::map<std::string, bool> seen;
  const std::function<void(const std::string&, bool)> visit = [&](const std::string& id, bool is_target) {
    if (!seen.emplace(id, true).second) return;
    const std::uint64_t signature = signed_as.of(id);
    used.push_back(signature);
    const cached* known = cache_.find(signature);
    if (known) {
      c.made[id] = *known;
      cached_nodes.push(json::text(id));
    }
    if (const json* in = c.job->graph.find(id)->find("inputs"))
      for (const auto& [name, input] : in->members())
        if (const std::optional<link> l = link_of(input); l && c.job->graph.find(l->node)) visit(l->node, false);
    if (!known || is_target) order.push_back(id);
  };
  for (const std::string& id : c.job->targets) visit(id, true);
  return order;
}

inputs executor::inputs_of(course& c, const json& node) const {
  inputs out;
  const json* in = node.find("inputs");
  if (!in) return out;
  for (const auto& [name, input] : in->members()) {
    const std::optional<link> l = link_of(input);
    const auto made = l ? c.made.find(l->node) : c.made.end();
    if (made == c.made.end())
      out[name] = plain{input};
    else if (l->slot < made->second.outputs.size())
      out[name] = made->second.outputs[l->slot];
  }
  return out;
}

portico::task<void> executor::perform(course& c, std::string id) {
  const json& node = *c.job->graph.find(id);
  const std::string& type = node.find("class_type")->str();
  c.node = id;
  tell_progress(c, id, "running", 0, 1);
  hub_.now_running(c.job->client_id, id);
  if (!c.job->client_id.empty()) hub_.send("executing", about(id, c.job->id), c.job->client_id);
  co_await pause(c, knobs_.node_delay);
  if (!knobs_.fail_node.empty() && (knobs_.fail_node == id || knobs_.fail_node == type))
    throw node_failure(knobs_.error_type, knobs_.error_text);

  const inputs in = inputs_of(c, node);
  cached result;
  result.outputs = co_await evaluate(c, type, in, result.shown);
  if (const json* instead = knobs_.outputs.find(id)) result.shown = *instead;
  check(c);
  const std::optional<json> shown = result.shown;
  c.made[id] = std::move(result);
  c.done.push_back(id);
  if (shown) tell_executed(c, id, shown);
  const std::int64_t max = type == "KSampler" ? literal(in, "steps").as_integer() : 1;
  tell_progress(c, id, "finished", max, max);
}

portico::task<void> executor::sample(course& c, const inputs& in, int steps) {
  const std::string& client = c.job->client_id;
  recipe small = sampled(in).made_by;
  const int longest = std::max({small.width, small.height, 1});
  small.width = std::max(1, small.width * 128 / longest);
  small.height = std::max(1, small.height * 128 / longest);
  for (int step = 1; step <= steps; ++step) {
    co_await pause(c, knobs_.step_delay);
    check(c);
    tell_progress(c, c.node, "running", step, steps);
    if (knobs_.previews && !client.empty() && hub_.is_listening(client)) {
      const double done = static_cast<double>(step) / steps;
      std::string png = co_await portico::work(host_, [&] { return to_png(render(small, done)); });
      if (png.size() < knobs_.preview_bytes) png.resize(knobs_.preview_bytes);
      check(c);
      json metadata = json::object();
      metadata.set("node_id", json::text(c.node));
      metadata.set("prompt_id", json::text(c.job->id));
      metadata.set("display_node_id", json::text(c.node));
      metadata.set("parent_node_id", json());
      metadata.set("real_node_id", json::text(c.node));
      metadata.set("image_type", json::text("image/png"));
      hub_.send_preview(png, metadata, client);
    }
    if (!client.empty()) {
      json data = json::object();
      data.set("value", json::integer(step));
      data.set("max", json::integer(steps));
      data.set("prompt_id", json::text(c.job->id));
      data.set("node", json::text(c.node));
      hub_.send("progress", data, client);
    }
    while (knobs_.hang) co_await pause(c, std::chrono::milliseconds(20));
  }
}

}  // namespace standin
