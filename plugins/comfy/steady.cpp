#include "plugins/comfy/steady.hpp"

#include <atomic>

namespace comfy {
namespace {

std::atomic<std::chrono::nanoseconds (*)()> source{nullptr};

}  // namespace

steady::time_point steady::now() noexcept {
  if (const auto in_its_place = source.load(std::memory_order_relaxed)) return time_point(in_its_place());
  return time_point(std::chrono::steady_clock::now().time_since_epoch());
}

void set_time_source(std::chrono::nanoseconds (*in_its_place)()) noexcept {
  source.store(in_its_place, std::memory_order_relaxed);
}

}  // namespace comfy
