// core/plugin/manager.hpp - all plugins of one server: found, checked, ordered, started, stopped.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/config/server_settings.hpp"
#include "core/http/router.hpp"
#include "core/http/server.hpp"
#include "core/loop/loop.hpp"
#include "core/loop/workers.hpp"
#include "core/upstream/client.hpp"

namespace portico::plugin {

// Plugins that cannot be used: what() is a line for each, for people, with the file, what was found and what is
// allowed.
class refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the plugins run on.  All of it outlives the manager; see manager::left_alone for the one exception.
struct environment {
  std::span<loop::event_loop* const> loops;
  loop::workers* workers = nullptr;
  http::router* routes = nullptr;                       // the manager adds to it and freezes it
  std::span<upstream::client* const> upstream_clients;  // one per loop
  std::function<http::statistics()> http_stats;         // core's own figures, for portico.stats/1; may be empty
};

// A line of `portico plugins`.
struct description {
  struct key {
    std::string name, type, fallback, help;
    bool required = false;
  };
  std::string name, library, id, version, summary, homepage, build;
  std::string error;  // why it could not be described; else empty
  bool enabled = false;
  std::uint32_t needs_minor = 0;
  std::vector<std::string> provides, needs, uses;
  bool lists_routes = false;        // else they are known only once it has started
  std::vector<std::string> routes;  // "GET /jobs/{id}"
  std::vector<key> keys;
};

// Everything in the directory and every library the settings name, described without effects; sorted by name.
std::vector<description> describe_all(const config::settings&);
// Throws refusal for what would keep the server from starting: loads, checks keys and services, but creates nothing.
// Warnings, of optional plugins and of routes that two plugins list, go to the log.
void check(const config::settings&);

class manager {
 public:
  // Throws refusal when the machine has more loops than can be told apart (1023 in one process).
  manager(const config::settings&, environment);
  // After stop has called done, or when start was never called.  The loops may have ended.
  ~manager();
  manager(const manager&) = delete;
  manager& operator=(const manager&) = delete;

  // On loop 0, while it runs, before anything is served: loads, validates, creates and starts all enabled plugins (of
  // those settings::only and what it uses, where it is set) and freezes the router.  Throws refusal.  What had been
  // started by then is stopped by stop(), which must be called either way: only turning loops can let a plugin go.
  void start();

  // The gate's last step: runs the filters in order, then the route's plugin.  The exchange has its match set.
  http::handler& entry() noexcept;

  // On loop 0, once, while all loops run.  Stops and destroys all, users before providers.  Exchanges still held get
  // cancelled.  done is called on loop 0 when all are destroyed, or when those that will not let go within `patience`
  // have been named in the log.
  void stop(std::chrono::milliseconds patience, std::function<void()> done);

  // After done: whether a plugin did not let go.  Then its code may still run on a loop or a worker, and what it runs
  // on must stay: the process should end by std::_Exit instead of by destroying loops and workers.
  bool left_alone() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace portico::plugin
