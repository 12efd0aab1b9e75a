// plugins/comfyui_standin/knobs.hpp - how the stand-in behaves and misbehaves, and what it has counted.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/comfyui_standin/json.hpp"

namespace standin {

// What happens on one route instead of its answer, or before it.
struct fault {
  fault() = default;                   // no aggregate: it is handed to coroutines
  std::int64_t times = -1;             // so many requests, then normal again; -1: for ever
  std::chrono::milliseconds delay{0};  // before anything else
  bool after = false;                  // the request is carried out first, and only its answer lost
  bool drop = false;                   // the connection is reset without an answer
  int status = 0;                      // 0: the true answer
  std::string body, content_type = "text/plain; charset=utf-8";
  std::int64_t cut_at = -1;  // so many bytes of the answer's body, then the connection is reset
};

struct knobs {
  std::chrono::milliseconds step_delay{50}, node_delay{0},
      history_delay{0};  // between execution_success and the entry in the history
  bool previews = true;
  std::uint64_t preview_bytes = 0;  // previews are padded to at least this
  bool hang = false;                // samplers stop after their first step, until this is false or they are interrupted
  std::string fail_node;            // id or class of the node that fails
  std::string error_text = "the stand-in was told to fail here", error_type = "RuntimeError";
  bool jobs_api = true;                 // false: as before /api/jobs existed
  std::string websocket = "normal";     // or "deaf", "refuse", "close" (after each message)
  bool unread_stalls = true;            // one socket whose client does not read holds up all, as in ComfyUI
  bool lose_outputs = false;            // outputs are listed but not stored
  std::vector<std::string> filenames;   // the next outputs are reported under these names, one each
  json outputs = json::object();        // by node id: reported instead of what the node made
  std::map<std::string, fault> faults;  // by route, such as "GET /history/{id}"

  // Takes the members of the object over; nothing on success, else what is wrong, and then nothing has changed.
  std::optional<std::string> apply(const json& patch);
  json print() const;
};

// Calls since the last reset.  What may grow is bounded.
class counters {
 public:
  void count(const std::string& route) { ++calls_[route]; }
  void saw_prompt(const std::string& id, std::string body, json headers);
  void saw_view(std::string query) { last_view_ = std::move(query); }
  void socket_opened() { ++sockets_opened_; }
  void reset() { *this = counters(); }
  json print(std::size_t sockets_open) const;

 private:
  static constexpr std::size_t max_ids = 20'000, max_kept_body = 1 << 20;
  std::map<std::string, std::int64_t> calls_;
  std::map<std::string, std::int64_t> prompts_;  // by prompt_id; beyond max_ids new ones are not listed
  std::string last_prompt_, last_view_;
  json last_headers_;
  std::int64_t sockets_opened_ = 0;
};

}  // namespace standin
