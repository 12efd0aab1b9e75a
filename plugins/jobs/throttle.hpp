// plugins/jobs/throttle.hpp - at most one event of a kind in each interval, and never the last one lost.
#pragma once
#include "plugins/jobs/clock.hpp"

namespace jobs {

class throttle {
 public:
  explicit throttle(steady::duration interval) noexcept : interval_(interval) {}

  // Something new is there to be told.  now: tell it; later: tell it at due(); wait: a later is on its way already.
  enum class verdict { now, later, wait };
  verdict offer(steady::time_point now) noexcept {
    if (promised_) return verdict::wait;
    if (now - told_ >= interval_) return told_ = now, verdict::now;
    promised_ = true;
    return verdict::later;
  }
  steady::time_point due() const noexcept { return told_ + interval_; }
  // True when something is still to be told: then it is told with this call.
  bool flush(steady::time_point now) noexcept {
    if (!promised_) return false;
    promised_ = false;
    told_ = now;
    return true;
  }

 private:
  steady::duration interval_;
  steady::time_point told_{};
  bool promised_ = false;
};

}  // namespace jobs
