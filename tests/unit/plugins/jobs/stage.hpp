// The jobs plugin on a fake server, in front of a fake ComfyUI.
#pragma once
#include <chrono>
#include <map>
#include <string>

#include "fake_comfyui.hpp"
#include "plugins/comfy/steady.hpp"

extern "C" const portico_plugin* portico_query(uint32_t);

namespace fake {

using namespace std::chrono_literals;

constexpr char graph[] =
    R"({"3":{"class_type":"KSampler","inputs":{"seed":1}},"9":{"class_type":"SaveImage","inputs":{"images":["3",0]}}})";

inline std::string body_with(const std::string& more = "") {
  return std::string("{\"workflow\":") + graph + more + "}";
}

// A member of the answer's JSON, as text: of "urls.self" the characters, of others what is written.
inline std::string at(const std::string& json, const std::string& path) {
  const comfy::json::document d(json);
  comfy::json::value v = d.root();
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    const std::string step = path.substr(from, dot - from);
    v = v.is_array() ? v.at(static_cast<std::size_t>(std::stoi(step))) : v[step];
    from = dot + 1;
  }
  return v.is_string() ? v.text() : std::string(v.raw());
}

// The plugin's clock is the fake server's.  One stage at a time.
inline portico::testing::loops* time_giver = nullptr;
inline std::chrono::nanoseconds fake_time() { return std::chrono::hours(1000) + time_giver->now(); }

struct stage {
  explicit stage(bool feed = true, std::map<std::string, std::string> settings = {}) {
    time_giver = &s.loops;
    comfy::set_time_source(&fake_time);
    if (feed) comfy.open_feed();
    settings["upstream"] = url;
    if (!settings.count("event_interval")) settings["event_interval"] = "1ms";
    s.load(&portico_query, settings);
    s.advance(10ms);
  }
  ~stage() {
    s.stop();
    comfy::set_time_source(nullptr);
  }

  // Submits a job and gives its id.
  std::string submit(const std::string& more = "") {
    const auto c = s.post("/api/v2/jobs", body_with(more));
    if (c->status != 201) throw std::runtime_error("submit: " + c->body);
    return at(c->body, "id");
  }
  std::string job(const std::string& id) { return s.get("/api/v2/jobs/" + id)->body; }
  std::string status(const std::string& id) { return at(job(id), "status"); }
  // Until no answer of ComfyUI that is remembered is fresh any more.
  void grow_stale() { s.advance(260ms); }

  portico::testing::server s;
  fake::comfyui comfy{s};
};

}  // namespace fake
