// core/plugin/instance.hpp - one running plugin, the loops it runs on, and what all plugins of a server share.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <portico/abi/plugin.h>

#include "core/base/log.hpp"
#include "core/http/exchange.hpp"
#include "core/loop/loop.hpp"
#include "core/plugin/activity.hpp"
#include "core/plugin/handles.hpp"
#include "core/plugin/keys.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/manager.hpp"

namespace portico::plugin {

struct server_state;
class statistics_registry;
class bound_route;
struct bound_filter;

enum class phase : int {
  loaded,    // described, nothing called
  creating,  // inside create(): only log, setting and find
  created,
  starting,  // inside start()
  running,
  stopping,  // stop() was called: new operations fail with cancelled
  gone,      // destroyed
  left       // did not let go in time
};

// What an instance holds on one loop; touched there only, except holds and releases, which the loop writes and the
// drain reads on it too.  The last shard is for threads that turn no loop, and its counts are added to atomically.
struct alignas(64) shard {
  object* first = nullptr;
  std::size_t objects = 0;
  std::atomic<std::uint64_t> holds{0}, releases{0};  // monotonic: hold, post; release, a post that ran
};

struct instance {
  instance(server_state&, const config::plugin_section&, std::string library, described);
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;

  // "portico.ini:5: plugin "jobs" (/x/jobs.so)", the beginning of its refusals.
  std::string subject() const;
  void log(base::level, std::string_view text) const noexcept;  // as "plugin.NAME"
  // A call that broke the rules of the interface: logged as a warning; it is also kept as the reason if start() fails.
  // Gives the code back, for `return i.fault(...)`.
  std::int32_t fault(const char* function, const std::string& what, std::int32_t code = PORTICO_E_STATE) noexcept;
  void count_hold() noexcept { count(&shard::holds); }
  void count_release() noexcept { count(&shard::releases); }
  bool accepts_operations() const noexcept {
    const phase p = now.load(std::memory_order_relaxed);
    return p == phase::starting || p == phase::running;
  }

  server_state& server;
  const std::string name, where, library;
  const bool optional;
  const described plugin;
  std::map<std::string, key_value, std::less<>> keys;
  portico_host host{};
  void* self = nullptr;
  std::atomic<phase> now{phase::loaded};
  std::unique_ptr<shard[]> shards;  // one per loop, and the last
  std::string last_fault;           // loop 0, during start()
  std::int32_t last_fault_code = 0;
  std::string clash;  // with another's route: start fails whatever the plugin makes of it
  std::vector<std::string> provided;
  std::vector<instance*> providers;  // of services it needs or uses
  std::deque<std::unique_ptr<bound_route>> routes;
  std::deque<std::unique_ptr<bound_filter>> filters;
  label in_create, in_start, in_stop, in_destroy, in_timer, in_work, in_post, in_call, in_websocket;

 private:
  void count(std::atomic<std::uint64_t> shard::*) noexcept;
};

inline instance& of(const portico_host* h) noexcept { return *static_cast<instance*>(h->state); }

class held_exchange;
class held_call;
class held_websocket;
class held_timer;
class held_work;

// Everything of core/plugin that belongs to one loop.
struct loop_state {
  loop_state(server_state&, loop::event_loop&, upstream::client*);
  ~loop_state();
  loop_state(const loop_state&) = delete;
  loop_state& operator=(const loop_state&) = delete;

  server_state& server;
  loop::event_loop& loop;
  upstream::client* client;  // nullptr: no upstream calls here
  const std::uint32_t index;
  activity busy;
  handle_table handles;
  std::unique_ptr<recycler<held_exchange>> exchanges;
  std::unique_ptr<recycler<held_call>> calls;
  std::unique_ptr<recycler<held_websocket>> websockets;
  std::unique_ptr<recycler<held_timer>> timers;
  std::unique_ptr<recycler<held_work>> works;
  std::vector<http::field> fields;  // scratch for one call

  // Exchanges that filters have passed on, each to be entered at a step in the next turn.
  struct passed {
    http::exchange* x;
    std::size_t step;
  };
  std::vector<passed> passes;
  loop::timer passes_due;
};

struct service_entry {
  const void* table = nullptr;
  void* self = nullptr;
  instance* provider = nullptr;
};

// What all plugins of one server share.  Filled on loop 0 before anything is served; read-only afterwards, except for
// what guards itself.
struct server_state {
  server_state(const config::settings&, environment);
  ~server_state();
  server_state(const server_state&) = delete;
  server_state& operator=(const server_state&) = delete;

  loop_state& at(const loop::event_loop& l) noexcept { return *loops[l.index()]; }
  // Of the loop this thread turns; nullptr on any other thread, and on loops of another server.
  loop_state* here() noexcept;

  config::settings settings;
  environment env;
  std::vector<std::unique_ptr<loop_state>> loops;
  std::vector<std::unique_ptr<instance>> instances;  // in the order of starting
  std::map<std::string, service_entry, std::less<>> services;
  std::vector<bound_filter*> filters;  // in the order of `enabled`
  std::unique_ptr<statistics_registry> statistics;
};

// Runs the filters from `step` on, then the route.  On the exchange's loop.
void dispatch(loop_state&, http::exchange&, std::size_t step) noexcept;

}  // namespace portico::plugin
