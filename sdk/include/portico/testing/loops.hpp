// portico/testing/loops.hpp - the event loops of the fake server: queues that one thread turns, and a time of their
// own.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace portico::testing {

// Everything runs on the test's thread, in an order that is always the same.  Time stands still while anything is ready
// to run, and moves only when the test lets it.
class loops {
 public:
  explicit loops(uint32_t count) : all_(count) {}
  uint32_t count() const noexcept { return static_cast<uint32_t>(all_.size()); }
  // The loop that is being turned, or -1: outside, or on the pool.
  int32_t current() const noexcept { return current_; }
  std::chrono::milliseconds now() const noexcept { return now_; }

  void post(uint32_t loop, std::function<void()> f) { all_[loop].ready.push_back(std::move(f)); }
  void after(uint32_t loop, std::chrono::milliseconds d, std::function<void()> f) {
    timers_.emplace(std::make_pair(now_ + d, ++order_), timer{loop, std::move(f)});
  }
  void at_end_of_turn(uint32_t loop, std::function<void()> f) { all_[loop].ends.push_back(std::move(f)); }
  void on_pool(std::function<void()> f) { pool_.push_back(std::move(f)); }
  std::size_t pool_waiting() const noexcept { return pool_.size(); }

  // Until nothing is ready at this moment.
  void run() {
    constexpr int most = 5'000'000;
    for (int turns = 0; turn(); ++turns)
      if (turns == most) throw std::runtime_error("the plugin never comes to rest: something is always ready to run");
  }
  // Until nothing is ready and that much time has passed.
  void advance(std::chrono::milliseconds d) {
    const auto end = now_ + d;
    run();
    while (next_timer(end)) run();
    now_ = end;
  }
  // Until pred, letting time pass as needed.  False: limit passed first, or nothing is left that could ever run.
  template <class Pred>
  bool run_until(Pred pred, std::chrono::milliseconds limit) {
    const auto end = now_ + limit;
    for (;;) {
      while (!pred())
        if (!turn()) break;
      if (pred()) return true;
      if (!next_timer(end)) return false;
    }
  }
  // Runs f as if on that loop.
  template <class F>
  void inside(uint32_t loop, F&& f) {
    const int32_t before = std::exchange(current_, static_cast<int32_t>(loop));
    f();
    current_ = before;
  }

 private:
  struct one {
    std::deque<std::function<void()>> ready;
    std::vector<std::function<void()>> ends;
  };
  struct timer {
    uint32_t loop;
    std::function<void()> f;
  };

  // One turn of each loop, then what the pool has.  False: nothing was ready.
  bool turn() {
    bool any = false;
    for (uint32_t i = 0; i < all_.size(); ++i) {
      std::deque<std::function<void()>> batch;
      batch.swap(all_[i].ready);
      any = any || !batch.empty();
      inside(i, [&] {
        for (auto& f : batch) f();
        std::vector<std::function<void()>> ends;
        ends.swap(all_[i].ends);
        any = any || !ends.empty();
        for (auto& f : ends) f();
      });
    }
    std::deque<std::function<void()>> work;
    work.swap(pool_);
    const int32_t before = std::exchange(current_, -1);
    for (auto& f : work) f();
    current_ = before;
    return any || !work.empty();
  }
  // Moves the time to the next timer, if that is not after end, and makes what is due ready.
  bool next_timer(std::chrono::milliseconds end) {
    if (timers_.empty() || timers_.begin()->first.first > end) return false;
    now_ = std::max(now_, timers_.begin()->first.first);
    while (!timers_.empty() && timers_.begin()->first.first <= now_) {
      auto due = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      post(due.loop, std::move(due.f));
    }
    return true;
  }

  std::vector<one> all_;
  std::map<std::pair<std::chrono::milliseconds, uint64_t>, timer> timers_;
  std::deque<std::function<void()>> pool_;
  std::chrono::milliseconds now_{0};
  uint64_t order_ = 0;
  int32_t current_ = -1;
};

}  // namespace portico::testing
