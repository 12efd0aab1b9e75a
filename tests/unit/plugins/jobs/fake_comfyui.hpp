// A ComfyUI that does what the test says: its queue and history are lists the test edits, its feed sends what it is
// told.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <portico/testing/server.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/comfy/json.hpp"

namespace fake {

using portico::testing::reply;
using portico::testing::seen_call;

constexpr char url[] = "http://comfy:1";

class comfyui {
 public:
  explicit comfyui(portico::testing::server& s) : server_(s) {
    serve("/prompt", &comfyui::on_prompt);
    serve("/queue", &comfyui::on_queue);
    serve("/history/", &comfyui::on_history);
    serve("/api/jobs/", &comfyui::on_cancel);
    serve("/interrupt", &comfyui::on_interrupt);
  }

  // The live feed: opened by the plugin when it starts, or later.
  void open_feed() {
    server_.upstream_socket_at("ws://comfy:1/ws", [this](portico::testing::upstream_socket& s) {
      ++connects;
      feed = s.socket->remote;
      if (greets) s.send(R"({"type":"status","data":{"sid":"x"}})");
    });
  }
  void tell(const std::string& type, const std::string& data) {
    server_.loops.inside(0, [&] { feed->send("{\"type\":\"" + type + "\",\"data\":" + data + "}"); });
    server_.run();
  }
  // A message of one job; data: more members.
  void tell_of(const std::string& id, const std::string& type, const std::string& data = "") {
    tell(type, "{\"prompt_id\":\"" + id + "\"" + (data.empty() ? "" : "," + data) + "}");
  }
  void start(const std::string& id) {
    std::erase(pending, id);
    running = id;
  }
  void finish(const std::string& id, const std::string& outputs = "{}",
              const std::string& status = R"({"status_str":"success","completed":true,"messages":[]})") {
    std::erase(pending, id);
    if (running == id) running.clear();
    tell_queue();
    history[id] = "{\"prompt\":[],\"outputs\":" + outputs + ",\"status\":" + status + "}";
  }

  int calls(const std::string& part) const {
    int n = 0;
    for (const auto& c : server_.calls) n += c.url.find(part) != std::string::npos;
    return n;
  }

  std::vector<std::string> pending, deleted, interrupted;
  std::string running;
  std::map<std::string, std::string> history;
  std::string last_prompt;
  bool knows_cancel = true;
  bool silent = false, greets = true;   // the feed tells nothing of the queue; it says something when it is opened
  std::function<void()> on_first_look;  // at a history: once, after its answer was made
  int connects = 0;
  std::shared_ptr<portico::testing::upstream_socket> feed;  // the latest
  std::map<std::string, reply> instead;  // by path part: answers that take the place of the true ones

 private:
  // To every socket, whenever the queue has changed.
  void tell_queue() {
    if (!feed || silent) return;
    server_.loops.post(
        0, [this] { feed->send(R"({"type":"status","data":{"status":{"exec_info":{"queue_remaining":1}}}})"); });
  }
  // A script is asked when a call is opened, and again when its body is complete; only then does anything happen.
  void serve(const std::string& path, reply (comfyui::*answer)(const seen_call&)) {
    server_.upstream(url + path, [this, answer](const seen_call& c) {
      if (const reply* r = other(c)) return *r;
      if (server_.calls.size() == complete_) return reply{};
      complete_ = server_.calls.size();
      return (this->*answer)(c);
    });
  }
  const reply* other(const seen_call& c) const {
    for (const auto& [part, r] : instead)
      if (c.url.find(part) != std::string::npos) return &r;
    return nullptr;
  }
  reply on_prompt(const seen_call& c) {
    last_prompt = c.body;
    const comfy::json::document d(c.body);
    pending.push_back(d.root()["prompt_id"].text());
    tell_queue();
    return reply::json(200, "{\"prompt_id\":\"" + pending.back() + "\"}");
  }
  reply on_queue(const seen_call& c) {
    if (c.method == "POST") {
      for (const auto& id : std::vector<std::string>(pending))
        if (c.body.find(id) != std::string::npos) std::erase(pending, id), deleted.push_back(id);
      return reply::json(200, "");
    }
    std::string text = "{\"queue_running\":[";
    if (!running.empty()) text += "[0,\"" + running + "\",{},{},[]]";
    text += "],\"queue_pending\":[";
    int number = 1;
    for (const auto& id : pending)
      text += (number > 1 ? ",[" : "[") + std::to_string(number) + ",\"" + id + "\",{},{},[]]", ++number;
    return reply::json(200, text + "]}");
  }
  reply on_history(const seen_call& c) {
    const std::string id = c.url.substr(c.url.rfind('/') + 1);
    const auto found = history.find(id);
    const reply r = reply::json(200, found == history.end() ? "{}" : "{\"" + id + "\":" + found->second + "}");
    if (on_first_look) std::exchange(on_first_look, nullptr)();
    return r;
  }
  reply on_interrupt(const seen_call& c) {
    interrupted.push_back(c.body);
    return reply::json(200, "{}");
  }
  reply on_cancel(const seen_call& c) {
    if (!knows_cancel) return reply::text(404, "404: Not Found");
    const std::string id = c.url.substr(c.url.find("/jobs/") + 6, 36);
    const bool known = running == id || std::erase(pending, id) > 0;
    if (running == id) interrupted.push_back(id);
    return reply::json(200, known ? R"({"cancelled":true})" : R"({"cancelled":false})");
  }

  std::size_t complete_ = 0;
  portico::testing::server& server_;
};

}  // namespace fake
