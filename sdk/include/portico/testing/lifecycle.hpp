// portico/testing/lifecycle.hpp - loading, requests and stopping of the fake server.  Included by server.hpp.
#pragma once
#include <cstdio>
#include <cstring>

#include "base.hpp"
#include "calls.hpp"
#include "fake_server.hpp"
#include "http.hpp"
#include "websockets.hpp"

namespace portico::testing {
namespace detail {

inline constexpr portico_http http_table = {
    sizeof(portico_http), 0,          add_route,   http_read,     http_begin,    http_write,
    http_finish,          http_abort, http_cancel, http_on_close, http_deadline, http_send_file};
inline constexpr portico_filter filter_table = {sizeof(portico_filter), 0, filter_add, filter_pass};
inline constexpr portico_timer timer_table = {sizeof(portico_timer), 0, timer_after};
inline constexpr portico_work work_table = {sizeof(portico_work), 0, work_run};
inline constexpr portico_client client_table = {
    sizeof(portico_client), 0,           call_open, call_write, call_end, call_head, call_read, pipe_request,
    pipe_response,          call_cancel, call_close};
inline constexpr portico_websocket_api websocket_table = {sizeof(portico_websocket_api),
                                                          0,
                                                          ws_accept,
                                                          ws_connect,
                                                          ws_ready,
                                                          ws_receive,
                                                          ws_send,
                                                          ws_cancel,
                                                          ws_close,
                                                          ws_shutdown};
inline constexpr portico_service service_table = {sizeof(portico_service), 0, service_provide, service_get};
inline constexpr portico_stats stats_table = {sizeof(portico_stats), 0, stats_define, stats_record, stats_read};

inline const void* find(const portico_host*, const char* id) {
  const std::string_view s(id);
  if (s == PORTICO_HTTP) return &http_table;
  if (s == PORTICO_FILTER) return &filter_table;
  if (s == PORTICO_TIMER) return &timer_table;
  if (s == PORTICO_WORK) return &work_table;
  if (s == PORTICO_CLIENT) return &client_table;
  if (s == PORTICO_WEBSOCKET) return &websocket_table;
  if (s == PORTICO_SERVICE) return &service_table;
  if (s == PORTICO_STATS) return &stats_table;
  return nullptr;
}

// As an operator writes it: "64k", "250ms", "yes".  Throws when it is not of the type or out of range.
inline int64_t number_of(const portico_setting& s, const std::string& text) {
  const std::string wrong = std::string("setting ") + s.name + " = \"" + text + "\": not a value of its type";
  if (s.type == PORTICO_SETTING_BOOLEAN) {
    for (const char* yes : {"yes", "true", "on", "1"})
      if (text == yes) return 1;
    for (const char* no : {"no", "false", "off", "0"})
      if (text == no) return 0;
    throw std::runtime_error(wrong);
  }
  if (s.type < PORTICO_SETTING_INTEGER || s.type == PORTICO_SETTING_UPSTREAM) return 0;
  std::size_t used = 0;
  int64_t n = 0;
  try {
    n = std::stoll(text, &used);
  } catch (const std::exception&) {
    throw std::runtime_error(wrong);
  }
  const std::string unit = text.substr(used);
  const std::map<std::string, int64_t> sizes = {{"", 1}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
  const std::map<std::string, int64_t> times = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  const std::map<std::string, int64_t> plain = {{"", 1}};
  const auto& units = s.type == PORTICO_SETTING_SIZE ? sizes : s.type == PORTICO_SETTING_DURATION ? times : plain;
  const auto found = units.find(unit);
  if (found == units.end() && !(unit.empty() && n == 0)) throw std::runtime_error(wrong);
  if (found != units.end()) n *= found->second;
  if ((s.min || s.max) && (n < s.min || n > s.max)) throw std::runtime_error(wrong + " or out of range");
  return n;
}

}  // namespace detail

inline void server::read_settings(detail::instance& i, const std::map<std::string, std::string>& given) {
  for (const auto& [name, value] : given) {
    bool known = false;
    for (std::size_t k = 0; k < i.plugin->setting_count; ++k) known = known || name == i.plugin->settings[k].name;
    if (!known) throw std::runtime_error("unknown key \"" + name + "\"");
  }
  for (std::size_t k = 0; k < i.plugin->setting_count; ++k) {
    const portico_setting& s = i.plugin->settings[k];
    const auto found = given.find(s.name);
    if (found == given.end() && !s.fallback)
      throw std::runtime_error(std::string("the key \"") + s.name + "\" must be set");
    const std::string text = found != given.end() ? found->second : s.fallback;
    i.values[s.name] = {text, detail::number_of(s, text)};
  }
}

inline void server::load(portico_query_fn query, const std::map<std::string, std::string>& settings) {
  const portico_plugin* p = query(PORTICO_ABI_MAJOR);
  if (!p) throw std::runtime_error("the plugin speaks another ABI major");
  if (!PORTICO_HAS(p, portico_plugin, destroy)) throw std::runtime_error("malformed table");
  auto fresh = std::make_unique<detail::instance>();
  fresh->srv = this;
  fresh->turned = &loops;
  fresh->plugin = p;
  read_settings(*fresh, settings);
  for (const char* const* id = p->needs; id && *id; ++id)
    if (!services.count(*id))
      throw std::runtime_error(std::string("it needs the service ") + *id + ", which nobody provides");
  detail::instance& i = *instances.emplace_back(std::move(fresh));
  i.host = {sizeof(portico_host),
            PORTICO_ABI_MINOR,
            loops.count(),
            0,
            &i,
            detail::log_line_of,
            detail::setting_of,
            detail::find,
            detail::loop_index,
            detail::post,
            detail::hold,
            detail::release,
            detail::cancel_op};
  portico_error error{};
  int32_t rc = 0;
  i.creating = true;
  loops.inside(0, [&] { rc = p->create(&i.host, &i.self, &error); });
  i.creating = false;
  if (rc < 0) {
    instances.pop_back();
    throw std::runtime_error(error.text);
  }
  i.starting = true;
  loops.inside(0, [&] { rc = p->start(i.self, &error); });
  i.starting = false;
  i.started = rc >= 0;
  if (rc >= 0) return;
  stop_one(i);
  instances.pop_back();
  throw std::runtime_error(error.text);
}

inline std::shared_ptr<client> server::send(request r) {
  auto far = std::make_shared<client>();
  far->server_ = this;
  far->loop_ = r.loop % loops.count();
  far->server_lives_ = lives;
  const std::string path = r.target.substr(0, r.target.find('?'));
  const detail::bound_route* best = nullptr;
  std::string best_rank;
  fields best_params;
  bool other_method = false;
  for (const auto& route : routes) {
    fields params;
    std::string rank;
    if (!detail::matches(route.pattern, path, params, rank)) continue;
    const bool serves = route.method == r.method || (route.method == "GET" && r.method == "HEAD");
    other_method = other_method || !serves;
    if (!serves || (best && rank <= best_rank)) continue;
    best = &route, best_rank = rank, best_params = params;
  }
  const auto length = r.body_follows ? int64_t{-1} : static_cast<int64_t>(r.body.size());
  const int refused = !best ? (other_method ? 405 : 404) : best->max_body >= 0 && length > best->max_body ? 413 : 0;
  if (refused) {
    far->status = refused;
    far->over = true;
    return far;
  }
  auto* x = new portico_exchange(*best->owner, far->loop_);
  x->id = "r" + std::to_string(++ids);
  x->method = r.method;
  x->path = path;
  x->what_for = best->method + " " + best->pattern;
  if (path.size() < r.target.size()) x->query = r.target.substr(path.size() + 1);
  x->head_fields = std::move(r.headers);
  x->param_fields = std::move(best_params);
  x->token = r.token_id;
  for (const auto& f : x->head_fields) {
    x->abi_headers.push_back({detail::abi(f.first), detail::abi(f.second)});
    x->expects_continue = x->expects_continue || f.first == "expect";
  }
  for (const auto& f : x->param_fields) x->abi_params.push_back({detail::abi(f.first), detail::abi(f.second)});
  x->head = {sizeof(portico_request),
             x->home,
             detail::abi(x->id),
             detail::abi(x->method),
             detail::abi(x->path),
             detail::abi(x->query),
             detail::abi(x->scheme),
             detail::abi(x->authority),
             detail::abi(x->base),
             detail::abi(x->token),
             detail::abi(x->peer),
             4711,
             static_cast<uint32_t>(x->abi_headers.size()),
             x->abi_headers.data(),
             x->abi_params.data(),
             static_cast<uint32_t>(x->abi_params.size()),
             0,
             length};
  if (!r.body.empty()) x->in.push_back(std::move(r.body));
  x->in_end = !r.body_follows;
  x->max_body = best->max_body;
  x->slow = r.slow;
  x->far = far;
  far->exchange = x;
  loops.post(x->home, [this, x] { enter(x); });
  return far;
}

inline void server::enter(portico_exchange* x) {
  // The exchange is held by whoever is entered; the object stays the same, so that the far end finds it.
  x->filtered = x->step < filters.size();
  if (x->filtered) {
    const detail::bound_filter f = filters[x->step];
    x->hand_to(*f.owner);
    return f.fn(f.user, x, &x->head);
  }
  for (const auto& route : routes)
    if (route.method + " " + route.pattern == x->what_for) {
      x->hand_to(*route.owner);
      return route.fn(route.user, x, &x->head);
    }
  const auto far = x->far;  // the plugin has been stopped in between
  delete x;
  far->status = 503;
  far->over = true;
}

inline std::shared_ptr<client> server::fetch(request r) {
  const std::string what = r.method + " " + r.target;
  auto far = send(std::move(r));
  if (!run_until([&] { return far->over; }, longest)) throw std::runtime_error(what + " never ends");
  return far;
}
inline std::shared_ptr<client> server::get(std::string target, fields headers) {
  request r;
  r.target = std::move(target);
  r.headers = std::move(headers);
  return fetch(std::move(r));
}
inline std::shared_ptr<client> server::post(std::string target, std::string body, fields headers) {
  request r;
  r.method = "POST";
  r.target = std::move(target);
  r.body = std::move(body);
  r.headers = std::move(headers);
  return fetch(std::move(r));
}

inline void server::stop_one(detail::instance& i) {
  std::erase_if(routes, [&](const detail::bound_route& r) { return r.owner == &i; });
  std::erase_if(filters, [&](const detail::bound_filter& f) { return f.owner == &i; });
  if (i.started) loops.inside(0, [&] { i.plugin->stop(i.self); });
  i.stopping = true;
  for (detail::object* o : std::set<detail::object*>(i.live)) o->stop();
  const bool quiet = loops.run_until([&] { return i.live.empty() && i.holds <= 0; }, longest);
  loops.run();
  if (!quiet) {
    std::string text = std::string(i.plugin->id) + " still holds ";
    for (const detail::object* o : i.live) text += o->what() + ", ";
    fault(text + std::to_string(i.holds) + " holds or posted calls; it was not destroyed");
    return;
  }
  loops.inside(0, [&] { i.plugin->destroy(i.self); });
  std::erase_if(services, [&](const auto& s) { return s.second.provider == &i; });
}

inline void server::stop() {
  while (!instances.empty()) {
    stop_one(*instances.back());
    // One that did not let go may still be called by what it holds, so its record stays.
    if (!instances.back()->live.empty() || instances.back()->holds > 0) break;
    instances.pop_back();
  }
  if (faults.empty()) return;
  std::string text;
  for (const auto& f : faults) text += (text.empty() ? "" : "; ") + f;
  faults.clear();
  throw std::runtime_error(text);
}

inline server::~server() {
  try {
    stop();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "portico::testing::server: %s\n", e.what());
  }
  // Whatever a plugin would not give back; nobody can finish it any more.
  for (auto& i : instances)
    while (!i->live.empty()) delete *i->live.begin();
}

template <class F>
void client::later(F f) {
  if (server_lives_.expired()) return;
  server_->loops.post(loop_, std::move(f));
}
inline void client::send(std::string bytes) {
  later([this, bytes = std::move(bytes)] {
    if (!exchange || exchange->gone) return;
    exchange->in.push_back(bytes);
    exchange->arrived();
  });
}
inline void client::end() {
  later([this] {
    if (!exchange || exchange->gone) return;
    exchange->in_end = true;
    exchange->arrived();
  });
}
inline void client::disconnect() {
  later([this] {
    if (exchange && !exchange->gone) exchange->lost();
    if (socket && !socket->closed) socket->closed = true, socket->code = 1006, socket->arrived();
  });
}
inline void client::read_again(bool reads) {
  later([this, reads] {
    if (!exchange) return;
    exchange->slow = !reads;
    exchange->flush();
  });
}
inline void client::message(std::string text) {
  later([this, text = std::move(text)] {
    if (!socket) return;
    socket->in.emplace_back(text, PORTICO_WS_TEXT);
    socket->arrived();
  });
}
inline void client::close(int code) {
  later([this, code] {
    if (!socket) return;
    socket->closed = true;
    socket->code = code;
    socket->arrived();
  });
}

}  // namespace portico::testing
