// core/loop/loop.hpp - one event loop: a thread that turns, serving sockets, timers and what others post to it.
//
// A turn: wait for sockets (or the next timer, or a post), call the ready watchers, run what is due, run what was
// posted, then run what was put at the end of the turn.  Everything that belongs to a loop is touched on its thread
// only; post and wake are the only doors for others.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/loop/poller.hpp"

namespace portico::loop {

using clock = std::chrono::steady_clock;

class event_loop;

// A callback at a time.  An object that is embedded where it is needed; starting it again moves it.  Loop thread only.
class timer {
 public:
  using callback = void (*)(void* user);
  timer(event_loop&, callback, void* user) noexcept;
  ~timer();  // cancels
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // 0 or less: in the next turn; never from inside start.  Counted from the present, not from the start of the turn.
  void start(std::chrono::milliseconds from_now);
  // Saves asking for the time: timer.start_at(loop.now() + delay).  Of two with the same time the one started first is
  // first.
  void start_at(clock::time_point);
  void cancel() noexcept;  // also from inside a callback, also the one whose turn was next
  bool pending() const noexcept { return slot_ != none; }

 private:
  friend class timer_queue;  // core/loop/timers.hpp
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  event_loop& loop_;
  callback callback_;
  void* user_;
  std::size_t slot_ = none;
};

// Something with work for the end of this turn, such as bytes to be sent together.  Loop thread only.
class turn_end {
 public:
  virtual void on_turn_end() noexcept = 0;

 protected:
  ~turn_end() = default;

 private:
  friend class event_loop;
  struct list {
    turn_end* first = nullptr;
    turn_end* last = nullptr;
  };
  list* in_ = nullptr;  // where it is queued
  turn_end* before_ = nullptr;
  turn_end* after_ = nullptr;
  std::uint64_t last_turn_ = 0;  // when it ran last
};

class event_loop {
 public:
  explicit event_loop(std::uint32_t index);
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  std::uint32_t index() const noexcept { return index_; }
  // The loop this thread turns, or nullptr.
  static event_loop* current() noexcept;
  bool here() const noexcept { return current() == this; }

  // Turns on the calling thread until stop().  What was posted before stop() still runs.  An idle loop sleeps: it wakes
  // for sockets, timers and posts only.  May be called again after it returned; what was posted in between runs then.
  void run() noexcept;
  void stop() noexcept;  // any thread; also before run(), which then turns once

  // Calls fn(user) once on this loop, later, in order of posting; it must not throw.  Any thread; also before run().
  // The loop may be destroyed as soon as fn has run.  What it did not get to before never runs; drop(user), if given,
  // is then called by the destructor.
  void post(void (*fn)(void*), void* user, void (*drop)(void*) = nullptr);
  // The same for a callable; it is moved to the heap.
  template <class F>
  void post(F f) {
    auto* held = new F(std::move(f));
    post(
        [](void* p) {
          std::unique_ptr<F> own(static_cast<F*>(p));
          (*own)();
        },
        held, [](void* p) { delete static_cast<F*>(p); });
  }

  // Loop thread only, from here on.
  poller& sockets() noexcept { return poller_; }
  // The time at the start of this turn: cheap, and the same for all that happens in it.
  clock::time_point now() const noexcept { return now_; }
  // Calls on_turn_end once per turn, however often it is asked for.  Asked for by one that has run in this turn
  // already, it runs in the next, which then comes at once.
  void at_turn_end(turn_end&) noexcept;
  void forget_turn_end(turn_end&) noexcept;  // before it is destroyed

  // Any thread.  Grows by one each turn.  A loop that is not asleep and whose turns stand still is held by someone.
  std::uint64_t turns() const noexcept { return turns_.load(std::memory_order_relaxed); }
  bool asleep() const noexcept { return asleep_.load(std::memory_order_relaxed); }

 private:
  friend class timer;
  struct mailbox;
  void turn() noexcept;
  bool run_posted() noexcept;
  void run_turn_ends() noexcept;
  std::chrono::milliseconds patience() noexcept;

  std::uint32_t index_;
  poller poller_;
  std::unique_ptr<class timer_queue> timers_;
  std::unique_ptr<mailbox> mailbox_;
  clock::time_point now_;
  turn_end::list ends_;        // for this turn
  turn_end::list later_ends_;  // have run in this turn, and asked again
  bool stopping_ = false;
  std::atomic<std::uint64_t> turns_{0};
  std::atomic<bool> asleep_{false};
};

}  // namespace portico::loop
