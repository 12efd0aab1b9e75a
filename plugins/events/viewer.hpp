// plugins/events/viewer.hpp - one open event stream: its subscription, its writes, and the clock beside them.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <portico/operation.hpp>
#include <portico/request.hpp>
#include <portico/service.hpp>
#include <portico/task.hpp>

#include "plugins/comfy/jobs.h"
#include "plugins/comfy/steady.hpp"

namespace events {

using comfy::steady;

// A subscription to a job's events.  Belongs to one loop; gives itself back.
class subscription {
 public:
  explicit subscription(const portico::service<comfy_jobs>& jobs) noexcept : jobs_(jobs) {}
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  ~subscription() {
    if (raw_) jobs_.table().unsubscribe(jobs_.self(), raw_);
  }
  const portico::service<comfy_jobs>& jobs() const noexcept { return jobs_; }
  comfy_subscription*& raw() noexcept { return raw_; }

 private:
  const portico::service<comfy_jobs>& jobs_;
  comfy_subscription* raw_ = nullptr;
};

// Shared by the coroutine that writes and the clock that watches it, which may outlive it by a moment.  One loop.
class viewer {
 public:
  struct timing {
    steady::duration heartbeat, stuck;
  };
  viewer(portico::request& r, subscription& s, const timing& t)
      : host_(r.server()), request_(&r), subscription_(&s), timing_(t), beat_at_(steady::now() + t.heartbeat) {}

  // Wakes the writer when a heartbeat is due, and cuts off a write that no byte of was taken.  Ends soon after leave().
  static portico::task<> watch(std::shared_ptr<viewer>);
  void leave() noexcept;

  // co_await v.next(): the next event; nothing when a heartbeat is due, or when the server stops: see stopping(). error
  // CLOSED: the client has gone.
  class [[nodiscard]] next_op final : public portico::operation {
   public:
    explicit next_op(viewer& v) noexcept : operation(portico::context(*v.request_)), viewer_(v) {
      event_.struct_size = sizeof event_;
    }
    const comfy_event* await_resume();

   private:
    int32_t start() noexcept override;
    void cancel() noexcept override;
    viewer& viewer_;
    comfy_event event_{};
  };
  next_op next() noexcept { return next_op(*this); }

  // co_await v.write(bytes).  error CLOSED: the client has gone; TIMEOUT: it takes nothing.
  class [[nodiscard]] write_op final : public portico::operation {
   public:
    write_op(viewer& v, std::string_view bytes) noexcept
        : operation(portico::context(v.host_)), viewer_(v), bytes_(bytes) {}
    void await_resume() const;

   private:
    int32_t start() noexcept override;
    viewer& viewer_;
    std::string_view bytes_;
  };
  write_op write(std::string_view bytes) noexcept { return write_op(*this, bytes); }

  bool heartbeat_due() const noexcept { return steady::now() >= beat_at_; }
  void heartbeat_sent() noexcept { beat_at_ = steady::now() + timing_.heartbeat; }
  bool stopping() const noexcept { return stopping_; }

 private:
  steady::time_point due() const noexcept;
  void wake_clock() noexcept;

  const portico::host& host_;
  portico::request* request_;  // these two: null once the writer has left
  subscription* subscription_;
  const timing timing_;
  steady::time_point beat_at_, writing_since_{};
  portico::scope* asleep_ = nullptr;  // the clock's present sleep
  bool waiting_ = false, stuck_ = false, stopping_ = false;
};

}  // namespace events
