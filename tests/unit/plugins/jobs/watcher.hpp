// A subscriber of comfy.jobs/1 on one loop of the fake server.
#pragma once
#include <portico/error.hpp>
#include <string>
#include <utility>

#include "plugins/comfy/jobs.h"
#include "stage.hpp"

namespace fake {

// Takes whatever comes.
class watcher {
 public:
  watcher(stage& t, const std::string& id, uint32_t loop = 1) : t_(t), loop_(loop) {
    table_ = &t.s.service<comfy_jobs>(COMFY_JOBS, &self_);
    event_.struct_size = sizeof event_;
    t.s.loops.inside(loop, [&] {
      status = table_->subscribe(self_, portico::to_abi(id), portico::to_abi("http://h:1"), &raw_, &subscribed, this);
      if (status == PORTICO_READY) pull();
    });
    t.s.run_until([&] { return status != PORTICO_OK || raw_; }, std::chrono::seconds(60));
    t.s.advance(std::chrono::milliseconds(5));
  }
  ~watcher() { leave(); }
  void leave() {
    if (!raw_) return;
    t_.s.loops.inside(loop_, [&] {
      if (pending_) table_->cancel(self_, raw_);
    });
    t_.s.run();
    t_.s.loops.inside(loop_, [&] { table_->unsubscribe(self_, std::exchange(raw_, nullptr)); });
    t_.s.run();
  }
  // "status running|progress|output a.png|..." since the last call.
  std::string news() {
    t_.s.advance(std::chrono::milliseconds(10));
    return std::exchange(seen_, "");
  }
  int32_t status = PORTICO_OK;
  bool over = false;
  std::string last;  // the data of the latest event

 private:
  static void PORTICO_CALL subscribed(void* user, int32_t rc) noexcept {
    auto& w = *static_cast<watcher*>(user);
    w.status = rc == PORTICO_OK ? PORTICO_READY : rc;
    if (rc == PORTICO_OK) w.pull();
  }
  static void PORTICO_CALL came(void* user, int32_t rc) noexcept {
    auto& w = *static_cast<watcher*>(user);
    w.pending_ = false;
    if (rc == PORTICO_OK && w.take()) w.pull();
  }
  void pull() {
    for (;;) {
      const int32_t rc = table_->next(self_, raw_, &event_, &came, this);
      pending_ = rc == PORTICO_OK;
      if (rc == PORTICO_E_CLOSED) over = true;
      if (rc != PORTICO_READY || !take()) return;
    }
  }
  bool take() {
    last = std::string(portico::view(event_.data));
    if (!comfy::json::document(last).ok()) seen_ += "not JSON";
    switch (event_.kind) {
      case COMFY_EVENT_STATUS: {
        const std::string place = at(last, "queue_position");
        seen_ += "status " + at(last, "status") + (place.empty() ? "" : " " + place) + (event_.terminal ? ".|" : "|");
        break;
      }
      case COMFY_EVENT_PROGRESS:
        seen_ += "progress " + at(last, "value") + "|";
        break;
      case COMFY_EVENT_PREVIEW:
        seen_ += "preview " + at(last, "data_base64") + "|";
        break;
      case COMFY_EVENT_OUTPUT:
        seen_ += "output " + at(last, "name") + "|";
        break;
    }
    return true;
  }

  stage& t_;
  const uint32_t loop_;
  const comfy_jobs* table_ = nullptr;
  void* self_ = nullptr;
  comfy_subscription* raw_ = nullptr;
  comfy_event event_{};
  bool pending_ = false;
  std::string seen_;
};

}  // namespace fake
