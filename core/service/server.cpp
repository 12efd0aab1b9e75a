#include "core/service/server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/address.hpp"
#include "core/base/log.hpp"
#include "core/base/loopback.hpp"
#include "core/base/system.hpp"
#include "core/base/text.hpp"
#include "core/gate/gate.hpp"
#include "core/http/router.hpp"
#include "core/http/server.hpp"
#include "core/loop/loop.hpp"
#include "core/loop/workers.hpp"
#include "core/plugin/manager.hpp"
#include "core/service/builtin.hpp"
#include "core/upstream/client.hpp"

namespace portico::service {
namespace {

using std::chrono::milliseconds;

// How long plugins may take to let go once they are stopped, and connections to send what is queued after that.
constexpr milliseconds patience{1'000};
constexpr milliseconds flush_time{250};
// Work may wait in the pool for a thread; far more than can be served in time is refused rather than kept.
constexpr std::size_t waiting_work = 4'096;

void log(base::level l, std::string_view text) { base::log(l, "portico", text); }

// A refusal has a line for each plugin.
void log_lines(std::string_view text) {
  while (!text.empty()) log(base::level::error, base::cut(text, '\n'));
}

std::size_t loop_count(const config::server_section& s) {
  return s.threads != 0 ? s.threads : std::max(1u, std::thread::hardware_concurrency());
}

// Blocking work is mostly waiting for disks and name servers, so a few threads more than cores.
std::size_t worker_count(const config::server_section& s) {
  return s.workers != 0 ? s.workers : std::max(4u, 2 * std::thread::hardware_concurrency());
}

std::vector<base::network> networks_of(const std::vector<std::string>& texts) {
  std::vector<base::network> out;
  for (const std::string& text : texts)
    if (const auto network = base::parse_network(text)) out.push_back(*network);
  return out;
}

gate::log_format format_of(std::string_view access_log) {
  if (access_log == "json") return gate::log_format::json;
  return access_log == "text" ? gate::log_format::text : gate::log_format::none;
}

http::limits limits_of(const config::server_section& s) {
  http::limits out;
  out.max_body = s.max_body;
  out.head_timeout = milliseconds(s.head_timeout_ms);
  out.keep_alive = milliseconds(s.keep_alive_ms);
  out.body_timeout = milliseconds(s.body_timeout_ms);
  out.write_timeout = milliseconds(s.write_timeout_ms);
  out.request_timeout = milliseconds(s.request_timeout_ms);
  out.max_connections = s.max_connections;
  out.connections_per_client = s.connections_per_client;
  out.uncounted = networks_of(s.forwarded);
  out.server_timing = s.server_timing;
  return out;
}

gate::settings gate_settings(const config::server_section& s) {
  const bool loopback = s.host == "localhost" || base::is_loopback_literal(s.host);
  return {s.token,
          s.cors,
          loopback,
          s.hosts,
          s.max_body,
          format_of(s.access_log),
          networks_of(s.forwarded),
          s.requests_per_client,
          s.burst_per_client};
}

std::shared_ptr<const std::vector<upstream::settings>> upstreams_of(const config::settings& s) {
  std::vector<upstream::settings> out;
  for (const config::upstream_section& u : s.upstreams) {
    upstream::settings one;
    one.name = u.name;
    one.url = u.url;
    one.connect_timeout = milliseconds(u.connect_timeout_ms);
    one.response_timeout = milliseconds(u.response_timeout_ms);
    one.idle_timeout = milliseconds(u.idle_timeout_ms);
    one.max_idle = u.max_idle;
    out.push_back(std::move(one));
  }
  return std::make_shared<const std::vector<upstream::settings>>(std::move(out));
}

base::level log_level(const std::string& name) {
  if (name == "debug") return base::level::debug;
  if (name == "warning") return base::level::warning;
  if (name == "error") return base::level::error;
  return base::level::info;
}

std::string address_text(const std::string& host, std::uint16_t port) {
  const std::string shown = host.empty() ? "0.0.0.0" : host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return "http://" + shown + ":" + std::to_string(port);
}

// Turns all loops but the first, each on a thread of its own, until they are stopped.
class loop_threads {
 public:
  explicit loop_threads(const std::vector<loop::event_loop*>& loops) {
    try {
      for (std::size_t i = 1; i < loops.size(); ++i)
        threads_.emplace_back([l = loops[i]] {
          base::name_this_thread("loop " + std::to_string(l->index()));
          l->run();
        });
    } catch (...) {  // the system gives no more threads
      for (loop::event_loop* l : loops) l->stop();
      join();
      throw;
    }
  }
  ~loop_threads() { join(); }
  loop_threads(const loop_threads&) = delete;
  loop_threads& operator=(const loop_threads&) = delete;

 private:
  void join() {
    for (std::thread& t : threads_) t.join();
  }
  std::vector<std::thread> threads_;
};

}  // namespace

struct server::state {
  explicit state(config::settings s) : config(std::move(s)) {}

  bool serves() const noexcept { return config.only.empty(); }
  void build();
  void start_plugins();
  void announce() const;
  void begin_stop();
  void stop_plugins();
  void plugins_stopped();
  void end_loops();
  void stop_soon(exit_code);

  const config::settings config;
  std::vector<std::unique_ptr<loop::event_loop>> loops;
  std::vector<loop::event_loop*> loop_list;
  std::optional<loop::workers> workers;
  std::vector<std::unique_ptr<upstream::client>> clients;
  std::vector<upstream::client*> client_list;
  http::router routes;
  std::optional<plugin::manager> plugins;
  std::optional<gate::gate> gate;
  std::optional<http::server> http;
  std::optional<loop::timer> deadline;
  std::uint16_t port = 0;
  exit_code result = exit_good;

  // On loop 0.
  enum class phase { starting, serving, draining, stopping, flushing, ended } now = phase::starting;
  bool connections_gone = false;

  // Between run() and whoever calls stop().
  std::atomic<bool> stop_asked{false};
  std::atomic<loop::event_loop*> first_loop{nullptr};
};

void server::state::build() {
  for (std::size_t i = 0; i < loop_count(config.server); ++i) {
    loops.push_back(std::make_unique<loop::event_loop>(static_cast<std::uint32_t>(i)));
    loop_list.push_back(loops.back().get());
  }
  workers.emplace(worker_count(config.server), waiting_work);
  const auto upstreams = upstreams_of(config);
  for (loop::event_loop* l : loop_list) {
    clients.push_back(std::make_unique<upstream::client>(*l, *workers, upstreams));
    client_list.push_back(clients.back().get());
  }
  plugin::environment environment;
  environment.loops = loop_list;
  environment.workers = &*workers;
  environment.routes = &routes;
  environment.upstream_clients = client_list;
  environment.http_stats = [this] { return http->stats(); };
  plugins.emplace(config, environment);
  gate.emplace(gate_settings(config.server), loop_list, routes, plugins->entry());
  http.emplace(loop_list, limits_of(config.server), *gate);
  deadline.emplace(
      *loop_list[0],
      [](void* self) {
        auto& s = *static_cast<state*>(self);
        if (s.now == phase::draining)
          s.stop_plugins();
        else if (s.now == phase::flushing)
          s.end_loops();
      },
      this);
}

void server::state::start_plugins() {
  try {
    plugins->start();
    if (!serves()) return stop_soon(exit_good);
    http->start();
  } catch (const plugin::refusal& refused) {
    log_lines(refused.what());
    return stop_soon(exit_plugin);
  } catch (const std::exception& fault) {
    log(base::level::error, std::string("cannot start: ") + fault.what());
    return stop_soon(exit_fault);
  }
  now = phase::serving;
  announce();
  if (stop_asked.load()) begin_stop();
}

void server::state::announce() const {
  std::string names;
  for (const config::plugin_section& p : config.plugins) (names += names.empty() ? "" : ", ") += p.name;
  log(base::level::info, "portico " + std::string(version) + " listening on " + address_text(config.server.host, port) +
                             " (plugins: " + (names.empty() ? "none" : names) + ")");
}

void server::state::begin_stop() {
  if (now != phase::serving) return;
  now = phase::draining;
  log(base::level::info, "stopping");
  http->drain([this] {
    connections_gone = true;
    if (now == phase::draining)
      stop_plugins();
    else if (now == phase::flushing)
      end_loops();
  });
  if (now == phase::draining) deadline->start(milliseconds(config.server.drain_timeout_ms));
}

// What had started by then, before a plugin was refused or because no more was asked, is stopped as well; nothing has
// been served, so there is nothing to drain.
void server::state::stop_soon(exit_code code) {
  result = code;
  connections_gone = true;
  http->close_all();
  stop_plugins();
}

void server::state::stop_plugins() {
  now = phase::stopping;
  deadline->cancel();
  plugins->stop(patience, [this] { plugins_stopped(); });
}

void server::state::plugins_stopped() {
  now = phase::flushing;
  if (connections_gone) return end_loops();
  deadline->start(flush_time);
}

void server::state::end_loops() {
  if (now == phase::ended) return;
  now = phase::ended;
  deadline->cancel();
  http->close_all();
  for (loop::event_loop* l : loop_list) l->stop();
}

server::server(config::settings s) : state_(std::make_unique<state>(std::move(s))) {}
server::~server() = default;

exit_code server::run() {
  state& s = *state_;
  base::set_log_level(log_level(s.config.server.log_level));
  base::raise_descriptor_limit();
  for (const std::string& warning : s.config.warnings) log(base::level::warning, warning);
  try {
    s.build();
  } catch (const plugin::refusal& refused) {
    log_lines(refused.what());
    return exit_plugin;
  }
  try {
    if (s.serves()) s.port = s.http->listen(s.config.server.host, s.config.server.port);
  } catch (const std::system_error& refused) {
    log(base::level::error, refused.what());
    return exit_address;
  }
  s.loop_list[0]->post([&s] { s.start_plugins(); });
  s.first_loop.store(s.loop_list[0]);
  {
    const loop_threads others(s.loop_list);
    s.loop_list[0]->run();
    // Code of a plugin may still hold another loop, or run on what would be destroyed.
    if (s.plugins->left_alone()) std::_Exit(s.result);
  }
  s.first_loop.store(nullptr);
  if (s.serves()) log(base::level::info, "stopped");
  return s.result;
}

milliseconds server::longest_stop() const noexcept {
  constexpr milliseconds slack{250};
  return milliseconds(state_->config.server.drain_timeout_ms) + patience + flush_time + slack;
}

void server::stop() {
  state& s = *state_;
  s.stop_asked.store(true);
  if (loop::event_loop* first = s.first_loop.load()) first->post([&s] { s.begin_stop(); });
}

}  // namespace portico::service
