#include "rig.hpp"

#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/log.hpp"
#include "core/gate/gate.hpp"
#include "core/http/router.hpp"
#include "core/loop/loop.hpp"
#include "core/loop/workers.hpp"
#include "core/plugin/manager.hpp"
#include "core/upstream/client.hpp"

namespace rig {
namespace {

using namespace portico;

std::mutex log_lock;
std::vector<std::string> lines;

void sink(base::level level, std::string_view source, std::string_view text) {
  constexpr const char* names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  const std::lock_guard hold(log_lock);
  lines.push_back(std::string(names[static_cast<int>(level)]) + " " + std::string(source) + ": " + std::string(text));
}

}  // namespace

std::string library(std::string_view fixture) {
  return std::string(RIG_FIXTURES "/") + std::string(fixture) + RIG_SUFFIX;
}

std::vector<std::string> log_lines() {
  const std::lock_guard hold(log_lock);
  return lines;
}
void clear_log() {
  const std::lock_guard hold(log_lock);
  lines.clear();
}
void log_to_stderr() { base::set_log_sink(nullptr); }
bool logged(std::string_view part) {
  for (const std::string& line : log_lines())
    if (line.find(part) != std::string::npos) return true;
  return false;
}
bool logs_soon(std::string_view part) {
  return eventually([&] { return logged(part); });
}
bool eventually(const std::function<bool()>& f) {
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (!f()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

struct server::state {
  std::vector<std::unique_ptr<loop::event_loop>> loops;
  std::vector<loop::event_loop*> loop_list;
  std::unique_ptr<loop::workers> workers;
  std::vector<std::unique_ptr<upstream::client>> clients;
  std::vector<upstream::client*> client_list;
  http::router routes;
  std::optional<plugin::manager> manager;
  std::optional<gate::gate> gate;
  std::optional<http::server> http;
  std::vector<std::thread> threads;
  std::uint16_t port = 0;
  bool running = false;

  // Runs f on loop 0 and waits for it.
  void on_loop_0(const std::function<void()>& f) {
    std::promise<void> done;
    loop_list[0]->post([&] {
      f();
      done.set_value();
    });
    done.get_future().wait();
  }
};

server::server(std::size_t count) : state_(std::make_unique<state>()) {
  base::set_log_sink(&sink);
  base::set_log_level(base::level::debug);
  state& s = *state_;
  for (std::size_t i = 0; i < count; ++i)
    s.loop_list.push_back(
        s.loops.emplace_back(std::make_unique<loop::event_loop>(static_cast<std::uint32_t>(i))).get());
  s.workers = std::make_unique<loop::workers>(4, 8);
  const auto upstreams = std::make_shared<const std::vector<upstream::settings>>();
  for (loop::event_loop* l : s.loop_list)
    s.client_list.push_back(
        s.clients.emplace_back(std::make_unique<upstream::client>(*l, *s.workers, upstreams)).get());
}

server::~server() {
  if (state_->running) stop();
}

server& server::enable(const std::string& name, const std::string& fixture,
                       const std::map<std::string, std::string>& keys, bool optional) {
  config::plugin_section section;
  section.name = name;
  section.library = fixture.find('/') == std::string::npos ? library(fixture) : fixture;
  section.optional = optional;
  section.where = "test.ini:" + std::to_string(settings.plugins.size() + 1);
  for (const auto& [key, value] : keys) section.keys[key] = {value, section.where, "/"};
  settings.plugins.push_back(std::move(section));
  return *this;
}

std::string server::start() {
  state& s = *state_;
  plugin::environment env;
  env.loops = s.loop_list;
  env.workers = s.workers.get();
  env.routes = &s.routes;
  env.upstream_clients = s.client_list;
  env.http_stats = [&s] { return s.http->stats(); };
  s.manager.emplace(settings, env);
  portico::gate::settings gate_settings;
  gate_settings.token = token;
  s.gate.emplace(gate_settings, s.loop_list, s.routes, s.manager->entry());
  s.http.emplace(s.loop_list, limits, *s.gate);
  s.port = s.http->listen("127.0.0.1", 0);
  for (loop::event_loop* l : s.loop_list) s.threads.emplace_back([l] { l->run(); });
  s.running = true;
  std::string refused;
  s.on_loop_0([&] {
    try {
      s.manager->start();
      s.http->start();
    } catch (const plugin::refusal& why) {
      refused = why.what();
    }
  });
  return refused;
}

bool server::stop(std::chrono::milliseconds drain, std::chrono::milliseconds patience) {
  state& s = *state_;
  if (!s.running) return true;
  s.running = false;
  std::promise<void> stopped, closed;
  const auto drained = std::make_shared<std::promise<void>>();
  auto all_drained = drained->get_future();
  s.loop_list[0]->post([&s, drained] { s.http->drain([drained] { drained->set_value(); }); });
  all_drained.wait_for(drain);
  s.loop_list[0]->post([&] { s.manager->stop(patience, [&] { stopped.set_value(); }); });
  stopped.get_future().wait();
  s.loop_list[0]->post([&] {
    s.http->close_all();
    closed.set_value();
  });
  closed.get_future().wait();
  const bool clean = !s.manager->left_alone();
  if (clean) all_drained.wait();  // else connections whose exchanges are kept stay
  for (loop::event_loop* l : s.loop_list) l->stop();
  for (std::thread& t : s.threads) t.join();
  s.manager.reset();
  s.http.reset();
  return clean;
}

std::uint16_t server::port() const { return state_->port; }
std::string server::url() const { return "http://127.0.0.1:" + std::to_string(state_->port); }

}  // namespace rig
