// core/plugin/activity.hpp - which plugin a loop is inside, for the watchdog and for log lines.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace portico::plugin {

struct instance;

// Where a loop enters a plugin.  Made before it is used, lives until the manager is destroyed.
struct label {
  instance* who = nullptr;
  std::string what;        // "GET /jobs/{id}", "a timer"
  bool may_block = false;  // start(): nothing is served yet
};

// Written by its loop, read by the watchdog.
struct alignas(64) activity {
  std::atomic<const label*> inside{nullptr};
  std::atomic<std::uint64_t> entries{0};
};

// The time one call into a plugin takes.  No system call, no locked instruction.
class visit {
 public:
  visit(activity& a, const label& l) noexcept : activity_(a), before_(a.inside.load(std::memory_order_relaxed)) {
    a.inside.store(&l, std::memory_order_release);
    a.entries.store(a.entries.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() { activity_.inside.store(before_, std::memory_order_release); }

 private:
  activity& activity_;
  const label* before_;
};

// Calls into a plugin.  False when something was thrown, which is the plugin's fault: nothing may leave a callback.
// What was thrown is not looked at, since its type may come from another runtime.
template <class F>
bool cross(activity& a, const label& l, F&& call) noexcept {
  const visit now(a, l);
  try {
    call();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace portico::plugin
