// core/loop/timers.hpp - the timers of one loop, the next one first.  Private to core/loop.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/loop/loop.hpp"

namespace portico::loop {

// A binary heap.  A timer knows its place in it, so that moving and cancelling cost O(log n) and no search.
class timer_queue {
 public:
  ~timer_queue();

  void start(timer&, clock::time_point when);
  void cancel(timer&) noexcept;
  // Calls what is due at now, in order, but nothing that was started meanwhile: that waits for the next turn.
  void run_due(clock::time_point now) noexcept;
  std::optional<clock::time_point> next() const noexcept;

 private:
  struct entry {
    clock::time_point when;
    std::uint64_t order;  // of starting: decides between equal times
    timer* what;
  };
  static bool earlier(const entry& a, const entry& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.order < b.order;
  }
  void put(std::size_t slot, const entry&) noexcept;
  void settle(std::size_t slot, const entry&) noexcept;

  std::vector<entry> heap_;
  std::uint64_t started_ = 0;
};

}  // namespace portico::loop
