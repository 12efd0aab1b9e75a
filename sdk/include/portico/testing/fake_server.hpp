// portico/testing/fake_server.hpp - the class server; include server.hpp, which explains it.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects.hpp"

namespace portico::testing {

struct log_line {
  int32_t level;  // PORTICO_LOG_*
  std::string text;
};

class server {
 public:
  static constexpr std::chrono::milliseconds longest{3'600'000};  // of fake time, where a test names no limit

  explicit server(uint32_t loop_count = 2) : loops(loop_count) {}
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();  // stops what still runs; what stop() would say goes to stderr

  // Describes, creates and starts a plugin, with its settings as an operator would write them (the text of an upstream
  // setting is its url).  Throws std::runtime_error with the reason if the plugin is refused or refuses.
  void load(portico_query_fn query, const std::map<std::string, std::string>& settings = {});

  // A service that the test provides in place of another plugin; before load.
  template <class Table>
  void provide(const std::string& id, const Table& table, void* self) {
    services[id] = {&table, self, nullptr};
  }
  // A service of a loaded plugin, to be called with loops.inside(0, ...).  Throws if nobody provides it.
  template <class Table>
  const Table& service(const std::string& id, void** self) const {
    const auto found = services.find(id);
    if (found == services.end()) throw std::runtime_error("nobody provides " + id);
    *self = found->second.self;
    return *static_cast<const Table*>(found->second.table);
  }

  // Begins a request.  Nothing runs until run, advance or run_until.
  std::shared_ptr<client> send(request);
  // Begins a request and runs, letting time pass, until it is over.  Throws if that never comes.
  std::shared_ptr<client> get(std::string target, fields headers = {});
  std::shared_ptr<client> post(std::string target, std::string body, fields headers = {});
  std::shared_ptr<client> fetch(request);

  // How calls to URLs that begin with prefix are answered; the longest prefix wins.  Others are E_UNREACHABLE.
  void upstream(std::string prefix, reply r) {
    upstream(std::move(prefix), [r = std::move(r)](const seen_call&) { return r; });
  }
  void upstream(std::string prefix, upstream_script script) { scripts[std::move(prefix)] = std::move(script); }
  // Websockets to URLs that begin with prefix connect; connected is called with each.  Others are E_UNREACHABLE.
  void upstream_socket_at(std::string prefix, std::function<void(upstream_socket&)> connected = {}) {
    sockets[std::move(prefix)] = std::move(connected);
  }

  void run() { loops.run(); }                                      // until nothing is ready
  void advance(std::chrono::milliseconds d) { loops.advance(d); }  // and that much time has passed
  template <class Pred>
  bool run_until(Pred pred, std::chrono::milliseconds limit = longest) {
    return loops.run_until(pred, limit);
  }

  // Stops and destroys all plugins as a server does: stop(), everything pending ends CANCELLED, destroy() at zero held.
  // Throws std::runtime_error naming each rule that was broken and whatever a plugin did not give back.
  void stop();

  bool logged(std::string_view part) const {
    for (const auto& l : log)
      if (l.text.find(part) != std::string::npos) return true;
    return false;
  }
  // The value of a counter or gauge that was defined; throws if there is none.
  int64_t stat(std::string_view name) const {
    for (const auto& m : metrics)
      if (m->name == name) return m->cells[0];
    throw std::runtime_error("no metric of that name");
  }
  // Records that a rule was broken.
  void fault(const std::string& text) { faults.push_back(text); }

  testing::loops loops;
  std::vector<log_line> log;
  std::vector<std::string> faults;
  std::vector<seen_call> calls;             // every call to an upstream, once its body was complete
  std::vector<detail::bound_route> routes;  // what the plugins registered
  std::size_t pool_capacity = 64;           // work that may wait before E_LIMIT

  // For the other headers of this folder.
  std::vector<detail::bound_filter> filters;
  std::map<std::string, detail::provided> services;
  std::map<std::string, upstream_script> scripts;
  std::map<std::string, std::function<void(upstream_socket&)>> sockets;
  std::vector<std::unique_ptr<portico_metric>> metrics;
  std::vector<std::unique_ptr<detail::instance>> instances;
  std::shared_ptr<bool> lives = std::make_shared<bool>(true);
  uint64_t ids = 0;
  void enter(portico_exchange*);  // the next filter, or the route

 private:
  void read_settings(detail::instance&, const std::map<std::string, std::string>&);
  void stop_one(detail::instance&);
};

namespace detail {

inline object::object(instance& i, uint32_t l) : owner(&i), home(l) { owner->live.insert(this); }
inline object::~object() {
  *alive = false;
  owner->live.erase(this);
}
inline bool object::here(const char* function) const {
  if (owner->srv->loops.current() == static_cast<int32_t>(home)) return true;
  owner->srv->fault(std::string(function) + " was called away from the loop that owns the object");
  return false;
}

// Where a [loop] function without an object is called; -1 after a fault was recorded.
inline int32_t on_loop(const portico_host* h, const char* function) {
  instance& i = of(h);
  const int32_t l = i.srv->loops.current();
  if (l < 0 || i.creating) {
    i.srv->fault(std::string(function) + (l < 0 ? " was called outside every loop" : " was called inside create()"));
    return -1;
  }
  return l;
}
inline bool in_start(const portico_host* h, const char* function) {
  if (of(h).starting) return true;
  of(h).srv->fault(std::string(function) + " was called outside start()");
  return false;
}

}  // namespace detail
}  // namespace portico::testing
