// plugins/comfy/steady.hpp - a clock that never goes back, and that a test can take the place of.
#pragma once
#include <chrono>

namespace comfy {

struct steady {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<steady>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;  // any thread
};

// From now on steady::now() is what the function says; null: the machine's clock again.  For tests, which let time pass
// as they like; of this library alone, since each plugin has its own copy.
void set_time_source(std::chrono::nanoseconds (*)()) noexcept;

}  // namespace comfy
