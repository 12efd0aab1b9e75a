// plugins/jobs/clock.hpp - times: microseconds since 1970 (UTC), and how they are written on the wire.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "plugins/comfy/steady.hpp"

namespace jobs {

using comfy::steady;

// How long a job and the link of an output are said to last.
inline constexpr std::int64_t day_us = std::int64_t{24} * 60 * 60 * 1'000'000;

inline std::int64_t now_us() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

// Appends "2026-07-01T12:00:00.000000Z" for times from 1970 to 9999, and "null" for others.  No quotes.
void append_time(std::string& out, std::int64_t us);

}  // namespace jobs
