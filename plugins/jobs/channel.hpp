// plugins/jobs/channel.hpp - the events of one subscription, on their way from the tracker's loop to the subscriber's.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <portico/host.hpp>
#include <portico/per_loop.hpp>

#include "plugins/comfy/jobs.h"

namespace jobs {

// text: a template of job_text.hpp, shared by all who are told.
struct event {
  int32_t kind = COMFY_EVENT_STATUS;
  bool terminal = false;
  std::shared_ptr<const std::string> text;
};
inline event make_event(int32_t kind, std::string text, bool terminal = false) {
  return {kind, terminal, std::make_shared<const std::string>(std::move(text))};
}

// Used on its home loop only.  Holds at most one progress, one preview, and the statuses and outputs of one job.
class channel : public std::enable_shared_from_this<channel> {
 public:
  channel(const portico::host& h, uint32_t home) noexcept : host_(h), home_(home) {}
  uint32_t home() const noexcept { return home_; }

  void put(event);
  // As comfy_jobs.next.  give(out, event) fills the caller's storage in.
  using giver = void (*)(void* subscription, comfy_event* out, const event&);
  int32_t next(giver, void* subscription, comfy_event* out, portico_done, void* user);
  int32_t cancel();
  bool pending() const noexcept { return done_ != nullptr; }
  void leave() noexcept { left_ = true; }  // nothing that comes now is kept

 private:
  struct cancellation;
  std::optional<event> take();
  void complete(int32_t status);

  struct numbered {
    std::uint64_t order = 0;
    event what;
  };
  const portico::host& host_;
  const uint32_t home_;
  std::uint64_t order_ = 0, waits_ = 0;  // of events, and of waits for one
  std::deque<numbered> kept_;
  std::optional<numbered> progress_, preview_;
  bool over_ = false, left_ = false;
  giver give_ = nullptr;
  void* subscription_ = nullptr;
  comfy_event* out_ = nullptr;
  portico_done done_ = nullptr;
  void* user_ = nullptr;
};

// Carries events to the home loops of channels, one post for all that one turn has for a loop.  Any thread.
class mail {
 public:
  explicit mail(const portico::host& h) : host_(h), boxes_(h) {}
  void send(const std::shared_ptr<channel>&, event);

 private:
  struct box {
    std::mutex guard;
    std::vector<std::pair<std::shared_ptr<channel>, event>> waiting;
    bool posted = false;
  };
  static void PORTICO_CALL deliver(void* box) noexcept;
  const portico::host& host_;
  portico::per_loop<box> boxes_;
};

}  // namespace jobs
