// plugins/events/places.hpp - how many streams may be open at once.
#pragma once
#include <atomic>
#include <cstdint>

namespace events {

// Any thread.
class places {
 public:
  explicit places(int64_t limit) noexcept : limit_(limit) {}  // 0: no limit
  bool full() const noexcept { return limit_ && taken_.load(std::memory_order_relaxed) >= limit_; }
  int64_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

  // One place, if there is one, until it is destroyed.
  class place {
   public:
    explicit place(places& of) noexcept : of_(of), held_(of.take()) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      if (held_) of_.taken_.fetch_sub(1, std::memory_order_relaxed);
    }
    explicit operator bool() const noexcept { return held_; }

   private:
    places& of_;
    const bool held_;
  };

 private:
  bool take() noexcept {
    int64_t now = taken_.load(std::memory_order_relaxed);
    do {
      if (limit_ && now >= limit_) return false;
    } while (!taken_.compare_exchange_weak(now, now + 1, std::memory_order_relaxed));
    return true;
  }
  const int64_t limit_;
  std::atomic<int64_t> taken_{0};
};

}  // namespace events
