#include "core/plugin/watchdog.hpp"

#include <cstdio>
#include <string>

#include "core/base/system.hpp"

namespace portico::plugin {

namespace {
constexpr std::chrono::milliseconds interval(250), patience(1000);
}

watchdog::watchdog(const server_state& s) : server_(s), seen_(s.loops.size()), thread_([this] { run(); }) {}

watchdog::~watchdog() {
  {
    const std::lock_guard hold(lock_);
    ending_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void watchdog::run() {
  base::name_this_thread("watchdog");
  std::unique_lock hold(lock_);
  while (!end_.wait_for(hold, interval, [this] { return ending_; })) {
    const auto now = clock::now();
    for (std::size_t i = 0; i < seen_.size(); ++i) look(i, now);
  }
}

void watchdog::look(std::size_t i, clock::time_point now) {
  const activity& a = server_.loops[i]->busy;
  seen& s = seen_[i];
  const label* const inside = a.inside.load(std::memory_order_acquire);
  const std::uint64_t entries = a.entries.load(std::memory_order_relaxed);
  if (inside && inside == s.inside && entries == s.entries) {
    if (s.reported || inside->may_block || now - s.since < patience) return;
    s.reported = true;
    inside->who->log(base::level::warning,
                     "has held loop " + std::to_string(i) + " for over a second, in " + inside->what +
                         "; everything else on that loop waits: what blocks belongs on the pool (portico.work/1)");
    return;
  }
  if (s.reported) {
    char text[80];
    std::snprintf(text, sizeof text, "let go of loop %zu after %.1f s, in ", i,
                  std::chrono::duration<double>(now - s.since).count());
    s.inside->who->log(base::level::warning, text + s.inside->what);
  }
  s = {inside, entries, now, false};
}

}  // namespace portico::plugin
