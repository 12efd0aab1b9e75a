// core/plugin/watchdog.hpp - names the plugin and route that hold a loop for too long.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/plugin/instance.hpp"

namespace portico::plugin {

// One thread that looks at each loop's activity a few times a second.  It costs the loops nothing but the stores they
// make on their way into a plugin.  A loop held for more than a second is reported within the second after that.
class watchdog {
 public:
  explicit watchdog(const server_state&);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  using clock = std::chrono::steady_clock;
  struct seen {
    const label* inside = nullptr;
    std::uint64_t entries = 0;
    clock::time_point since{};
    bool reported = false;
  };
  void run();
  void look(std::size_t loop, clock::time_point now);

  const server_state& server_;
  std::vector<seen> seen_;
  std::mutex lock_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace portico::plugin
