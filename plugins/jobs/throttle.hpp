// plugins/jobs/throttle.hpp - at most one event of a kind in each interval, and never the last one lost.
#pragma once
#include <algorithm>

#include "plugins/jobs/clock.hpp"

namespace jobs {

class throttle {
 public:
  // gather: what comes in so short a time is told as one; else the second of two messages about one thing would be told
  // an interval later, and whatever comes after it late too.
  throttle(steady::duration interval, steady::duration gather) noexcept : interval_(interval), gather_(gather) {}

  // Something new is there to be told.  now: tell it; later: tell it at due(); wait: a later is on its way already.
  enum class verdict { now, later, wait };
  verdict offer(steady::time_point now) noexcept {
    if (promised_) return verdict::wait;
    due_ = std::max(now + gather_, told_ + interval_);
    if (due_ <= now) return told_ = now, verdict::now;
    promised_ = true;
    return verdict::later;
  }
  steady::time_point due() const noexcept { return due_; }
  // True when something is still to be told: then it is told with this call.
  bool flush(steady::time_point now) noexcept {
    if (!promised_) return false;
    promised_ = false;
    told_ = now;
    return true;
  }

 private:
  steady::duration interval_, gather_;
  steady::time_point told_{}, due_{};
  bool promised_ = false;
};

}  // namespace jobs
