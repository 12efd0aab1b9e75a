#include "core/plugin/instance.hpp"

#include <utility>

#include "core/plugin/host_client.hpp"
#include "core/plugin/host_http.hpp"
#include "core/plugin/host_stats.hpp"
#include "core/plugin/host_timer.hpp"
#include "core/plugin/host_websocket.hpp"
#include "core/plugin/host_work.hpp"
#include "core/plugin/tables.hpp"

namespace portico::plugin {

instance::instance(server_state& s, const config::plugin_section& section, std::string path, described d)
    : server(s),
      name(section.name),
      where(section.where),
      library(std::move(path)),
      optional(section.optional),
      plugin(std::move(d)),
      host(host_table),
      shards(std::make_unique<shard[]>(s.env.loops.size() + 1)),
      in_create{this, "create"},
      in_start{this, "start", true},
      in_stop{this, "stop"},
      in_destroy{this, "destroy"},
      in_timer{this, "a timer"},
      in_work{this, "the end of work"},
      in_post{this, "a posted call"},
      in_call{this, "an upstream call"},
      in_websocket{this, "a websocket"} {
  host.loop_count = static_cast<std::uint32_t>(s.env.loops.size());
  host.state = this;
}

std::string instance::subject() const { return where + ": plugin \"" + name + "\" (" + library + ")"; }

void instance::log(base::level l, std::string_view text) const noexcept {
  if (!base::logs(l)) return;
  try {
    base::log(l, "plugin." + name, text);
  } catch (...) {  // no memory for the name
    base::log(l, "plugin", text);
  }
}

std::int32_t instance::fault(const char* function, const std::string& what, std::int32_t code) noexcept {
  try {
    log(base::level::warning, std::string(function) + ": " + what);
    if (now.load(std::memory_order_relaxed) == phase::starting && server.loops[0]->loop.here()) {
      last_fault = what;
      last_fault_code = code;
    }
  } catch (...) {
    log(base::level::warning, function);
  }
  return code;
}

void instance::count(std::atomic<std::uint64_t> shard::*which) noexcept {
  const loop_state* const l = server.here();
  if (!l) {
    (shards[server.loops.size()].*which).fetch_add(1, std::memory_order_acq_rel);
    return;
  }
  std::atomic<std::uint64_t>& mine = shards[l->index].*which;
  mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

loop_state::loop_state(server_state& s, loop::event_loop& l, upstream::client* c)
    : server(s),
      loop(l),
      client(c),
      index(l.index()),
      handles(l),
      exchanges(std::make_unique<recycler<held_exchange>>(*this)),
      calls(std::make_unique<recycler<held_call>>(*this)),
      websockets(std::make_unique<recycler<held_websocket>>(*this)),
      timers(std::make_unique<recycler<held_timer>>(*this)),
      works(std::make_unique<recycler<held_work>>(*this)),
      passes_due(l, &run_passes, this) {
  handles.state = this;
}

loop_state::~loop_state() = default;

server_state::server_state(const config::settings& s, environment e) : settings(s), env(std::move(e)) {
  for (std::size_t i = 0; i < env.loops.size(); ++i)
    loops.push_back(std::make_unique<loop_state>(*this, *env.loops[i],
                                                 i < env.upstream_clients.size() ? env.upstream_clients[i] : nullptr));
  statistics = std::make_unique<statistics_registry>(*this);
}

server_state::~server_state() = default;

loop_state* server_state::here() noexcept {
  const loop::event_loop* const l = loop::event_loop::current();
  if (!l || l->index() >= loops.size()) return nullptr;
  loop_state& s = *loops[l->index()];
  return &s.loop == l ? &s : nullptr;
}

}  // namespace portico::plugin
