// core/plugin/drain.hpp - letting plugins go: stop, cancel, wait until they hold nothing, destroy.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/loop/loop.hpp"
#include "core/plugin/instance.hpp"

namespace portico::plugin {

// Works on loop 0.  It asks every loop in turn what the plugins that are going still hold there.  One goes when two
// such sweeps in a row have found nothing: then nothing was held, and every loop has turned once more since, so that
// none is on its way out of the plugin's code.
class drain {
 public:
  explicit drain(server_state&);
  ~drain();
  drain(const drain&) = delete;
  drain& operator=(const drain&) = delete;

  // One plugin whose start failed: no stop(), but it may have begun things.  It goes in the background.
  void retire(instance&);
  // All of them, users before providers; done once, when all are gone or have been left.
  void stop_all(std::chrono::milliseconds patience, std::function<void()> done);
  void destroy(instance&);  // one that was created and never started
  bool left_any() const noexcept { return left_any_; }

 private:
  struct going;
  struct sweep;
  void begin(instance&, bool started);
  void begin_those_without_users();
  void send_sweep();
  static void arrived(const std::shared_ptr<sweep>&);
  void judge(const sweep&);
  void give_up();
  void leave(going&);
  void finish_if_over();
  static void next_sweep(void*);
  static void deadline_passed(void*);

  server_state& server_;
  std::vector<std::unique_ptr<going>> going_;
  std::shared_ptr<sweep> under_way_;
  std::chrono::milliseconds pause_{0};
  loop::timer again_, deadline_;
  bool stopping_all_ = false, left_any_ = false;
  std::function<void()> done_;
};

}  // namespace portico::plugin
