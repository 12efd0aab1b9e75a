// core/loop/poller.hpp - waiting for sockets.  poller_epoll.cpp and poller_wsapoll.cpp implement it.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace portico::loop {

// A socket as the system numbers it: an int, or a SOCKET on Windows, which is where long is shorter than a pointer.
using descriptor = std::conditional_t<sizeof(long) < sizeof(void*), std::uint64_t, int>;

// What a socket is ready for, as bits.
// hangup comes whether asked for or not: both directions have ended, or the socket failed.  It comes again each turn
// until the watcher is removed, so removing it is the only answer. finished: the peer will send no more (it has closed,
// or half-closed).  Only where asked for, and then each turn as well. Useful while reading is paused; a reader learns
// the same from a read of 0 bytes.
enum readiness : unsigned { readable = 1, writable = 2, hangup = 4, finished = 8 };

// Told by the loop that its descriptor is ready.  May be removed, and destroyed, from inside on_ready.
class watcher {
 public:
  virtual void on_ready(unsigned readiness) noexcept = 0;

 protected:
  ~watcher() = default;
};

// Level-triggered.  One per loop; used on its thread, except wake().
class poller {
 public:
  poller();
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  // interest: of readable, writable and finished, or 0 to be told of hangup only.  Throws std::system_error when the
  // system refuses; nothing has changed then.  One watcher per descriptor; it must outlive its stay here.
  void add(descriptor, unsigned interest, watcher*);
  void modify(descriptor, unsigned interest, watcher*);
  // Before the descriptor is closed.  What this turn still had to say to the watcher is dropped.
  void remove(descriptor, watcher*) noexcept;

  // Waits at most that long; negative: until something happens.
  void wait(std::chrono::milliseconds) noexcept;
  // Calls on_ready of each watcher the last wait found ready.  A watcher removed meanwhile is not called any more.
  void dispatch() noexcept;

  // Ends a wait, this one or the next.  Any thread.
  void wake() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace portico::loop
