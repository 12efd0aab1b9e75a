#include "core/plugin/host_http.hpp"

#include "core/plugin/host_client.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.hpp"

namespace portico::plugin {

namespace {

constexpr std::size_t oldest_route = offsetof(portico_route, user) + sizeof(portico_route::user);

void answer_shortly(http::exchange& x, int status, const char* code, const char* message) noexcept {
  try {
    http::answer_error(x, status, code, message);
  } catch (...) {  // no memory for the envelope
    x.abort();
  }
}
void refuse_busy(http::exchange& x, const char* code, const char* message) noexcept {
  answer_shortly(x, 503, code, message);
}
void answer_fault(http::exchange& x) noexcept {
  answer_shortly(x, 500, "internal", "the server could not answer this request");
}

void open_exchange(instance& owner, const label& where, portico_on_request fn, void* user, http::exchange& x,
                   std::size_t next_step) noexcept {
  loop_state& l = owner.server.at(x.home());
  if (owner.now.load(std::memory_order_relaxed) != phase::running)
    return refuse_busy(x, "shutting_down", "the server is stopping; try again later");
  held_exchange* const e = l.exchanges->take(l.handles, owner, where);
  if (!e) return refuse_busy(x, "overloaded", "the server has too many requests in hand; try again later");
  try {
    e->adopt(x, next_step);
  } catch (...) {
    l.exchanges->give(*e);
    return refuse_busy(x, "overloaded", "the server is out of memory; try again later");
  }
  e->enter(fn, user);
}

}  // namespace

void bound_route::on_exchange(http::exchange& x) noexcept { open_exchange(owner_, where_, fn_, user_, x, 0); }

void dispatch(loop_state& l, http::exchange& x, std::size_t step) noexcept {
  const auto& filters = l.server.filters;
  if (step >= filters.size()) return x.matched()->target->on_exchange(x);
  const bound_filter& f = *filters[step];
  open_exchange(f.owner, f.where, f.fn, f.user, x, step + 1);
}

void run_passes(void* user) noexcept {
  loop_state& l = *static_cast<loop_state*>(user);
  // What is passed on from inside comes in the next turn.
  std::vector<loop_state::passed> now;
  now.swap(l.passes);
  for (const loop_state::passed& p : now) dispatch(l, *p.x, p.step);
  now.clear();
  if (l.passes.empty()) l.passes.swap(now);  // keeps the memory
}

void held_exchange::adopt(http::exchange& x, std::size_t next_step) {
  x_ = &x;
  next_step_ = next_step;
  read_out_ = nullptr;
  reading_ = writing_ = closing_ = {};
  piping_ = nullptr;
  fill_head();
}

void held_exchange::fill_head() {
  const http::request_head& h = x_->head();
  fields_.clear();
  give_fields(fields_, h.headers);
  give_fields(fields_, x_->params());
  head_ = {sizeof(portico_request),
           home_.index,
           to_abi(x_->id()),
           to_abi(h.method),
           to_abi(h.path),
           to_abi(h.query),
           to_abi(x_->scheme()),
           to_abi(h.authority),
           to_abi(x_->base_url()),
           to_abi(x_->token_id()),
           to_abi(x_->peer()),
           x_->peer_port(),
           static_cast<std::uint32_t>(h.headers.size()),
           fields_.data(),
           fields_.data() + h.headers.size(),
           static_cast<std::uint32_t>(x_->params().size()),
           0,
           h.content_length};
}

void held_exchange::enter(portico_on_request fn, void* user) noexcept {
  const std::uint64_t me = handle();
  if (!cross(home_.busy, where(), [&] { fn(user, to_handle<portico_exchange>(*this), &head_); })) take_away(me);
}

// A callback of this exchange threw.  Nothing of what it had in mind can be relied on: if nothing is pending that could
// still end it, the exchange is taken from the plugin and answered.
void held_exchange::take_away(std::uint64_t me) noexcept {
  bool wrong_thread = false;
  instance* const who = where().who;
  who->fault("portico.http/1", "a callback threw, in " + where().what + "; nothing may leave a callback");
  if (handle_table::find(me, kind::exchange, &wrong_thread) != this || busy() || reading_ || writing_) return;
  http::exchange& x = *x_;
  x.on_close(nullptr, nullptr);
  home_.exchanges->give(*this);
  if (x.begun())
    x.abort();
  else
    answer_fault(x);
}

void held_exchange::call(pending& p, base::status status) noexcept {
  const std::uint64_t me = handle();
  const pending now = std::exchange(p, pending{});
  if (!cross(home_.busy, where(), [&] { now.fn(now.user, status); })) take_away(me);
}

void held_exchange::give_back() noexcept { home_.exchanges->give(*this); }

void held_exchange::read_done(void* self, base::status status) noexcept {
  auto& e = *static_cast<held_exchange*>(self);
  if (status >= 0) *e.read_out_ = to_abi(e.chunk_);
  e.call(e.reading_, status);
}

void held_exchange::write_done(void* self, base::status status) noexcept {
  auto& e = *static_cast<held_exchange*>(self);
  e.call(e.writing_, status);
}

void held_exchange::told(void* self, base::status reason) noexcept {
  auto& e = *static_cast<held_exchange*>(self);
  if (e.closing_) e.call(e.closing_, reason);
}

std::int32_t held_exchange::read(std::size_t max, portico_str* chunk, portico_done done, void* user) {
  constexpr const char* function = "portico.http/1 read";
  if (!chunk || !done) return owner().fault(function, "chunk or done is NULL", PORTICO_E_ARGUMENT);
  if (is_filtered()) return owner().fault(function, "a filter must not read the body", PORTICO_E_STATE);
  if (reading_ || piping_) return PORTICO_E_STATE;
  const base::status s = x_->read(max, &chunk_, &read_done, this);
  if (s == base::ready) *chunk = to_abi(chunk_);
  if (s != base::ok) return s;
  read_out_ = chunk;
  reading_ = {done, user};
  return PORTICO_OK;
}

std::int32_t held_exchange::begin(std::int32_t status, const portico_field* fields, std::size_t count,
                                  std::int64_t content_length) {
  constexpr const char* function = "portico.http/1 begin";
  if (!take_fields(home_, fields, count))
    return owner().fault(function, "the headers cannot be read: NULL, or too many", PORTICO_E_ARGUMENT);
  // The server says the date itself.  What came from an upstream may be handed on as it is, its date included.
  std::erase_if(home_.fields, [](const http::field& f) { return base::equal_ignoring_case(f.name, "date"); });
  const base::status s = x_->begin(status, home_.fields, content_length);
  if (s == base::argument)
    owner().fault(function, "status " + std::to_string(status) + " or one of " + std::to_string(count) +
                                " headers is not allowed, in " + where().what);
  return s;
}

std::int32_t held_exchange::write(portico_str bytes, portico_done done, void* user) {
  if (!sound(bytes)) return owner().fault("portico.http/1 write", "bytes.data is NULL", PORTICO_E_ARGUMENT);
  if (writing_ || piping_) return PORTICO_E_STATE;
  const base::status s = x_->write(view(bytes), done ? &write_done : nullptr, this);
  if (s == base::ok && done) writing_ = {done, user};
  return s;
}

std::int32_t held_exchange::send_file(std::int64_t file, std::uint64_t offset, std::uint64_t size, portico_done done,
                                      void* user) {
  constexpr const char* function = "portico.http/1 send_file";
  if (!done) return owner().fault(function, "done is NULL", PORTICO_E_ARGUMENT);
  if (file < 0 || offset > INT64_MAX || size > INT64_MAX - offset)
    return owner().fault(function, "the file is none, or its part lies beyond 2^63 bytes", PORTICO_E_ARGUMENT);
  if (writing_ || piping_) return PORTICO_E_STATE;
  const base::status s = x_->send_file(static_cast<std::intptr_t>(file), offset, size, &write_done, this);
  if (s == base::ok) writing_ = {done, user};
  return s;
}

std::int32_t held_exchange::finish() {
  if (busy()) return PORTICO_E_STATE;
  if (!x_->begun()) {
    // A client that has gone may be answered with nothing; anyone else is owed an answer.
    if (!x_->closed())
      owner().fault("portico.http/1 finish", "no response was begun, in " + where().what + "; sent 500");
    http::exchange& x = *x_;
    x.on_close(nullptr, nullptr);
    give_back();
    answer_fault(x);
    return PORTICO_OK;
  }
  const base::status s = x_->finish();
  if (s >= 0) give_back();
  return s;
}

std::int32_t held_exchange::abort() {
  if (busy()) return PORTICO_E_STATE;
  const base::status s = x_->abort();
  if (s >= 0) give_back();
  return s;
}

std::int32_t held_exchange::on_close(portico_done fn, void* user) {
  closing_ = {fn, user};
  return x_->on_close(fn ? &told : nullptr, this);
}

std::int32_t held_exchange::cancel() {
  if (piping_) return piping_->engine().cancel();
  return x_->cancel();
}

std::int32_t held_exchange::pass() {
  if (!is_filtered())
    return owner().fault("portico.filter/1 pass", "the exchange came to a route's handler, not to a filter",
                         PORTICO_E_STATE);
  if (x_->begun() || busy()) return PORTICO_E_STATE;
  home_.passes.push_back({x_, next_step_});
  if (!home_.passes_due.pending()) home_.passes_due.start(std::chrono::milliseconds(0));
  x_->on_close(nullptr, nullptr);
  give_back();
  return PORTICO_OK;
}

namespace {

// Every function begins with its object, and ends without an exception.
template <class F>
std::int32_t on(portico_exchange* x, const char* function, F&& f) noexcept {
  try {
    held_exchange* const e = resolve<held_exchange>(x, function);
    return e ? f(*e) : PORTICO_E_STATE;
  } catch (...) {
    return PORTICO_E_FAILED;  // no memory
  }
}

std::int32_t add_route(const portico_host* h, const portico_route* given) noexcept {
  constexpr const char* function = "portico.http/1 route";
  if (!in_start(h, function)) return PORTICO_E_STATE;
  instance& i = of(h);
  try {
    portico_route r;
    if (!take_struct(given, oldest_route, &r))
      return i.fault(function, "the route's struct_size is too small", PORTICO_E_ARGUMENT);
    if (!r.method || !r.pattern || !r.on_request)
      return i.fault(function, "method, pattern or on_request is NULL", PORTICO_E_ARGUMENT);
    if (r.flags & ~PORTICO_ROUTE_OPEN)
      return i.fault(function, "flags has a bit this server does not know: " + std::to_string(r.flags),
                     PORTICO_E_ARGUMENT);
    const std::string what = std::string(r.method) + " " + r.pattern;
    if (const auto& listed = i.plugin.routes;
        i.plugin.lists_routes && std::find(listed.begin(), listed.end(), what) == listed.end())
      return i.fault(function, "the plugin's description does not list the route " + what, PORTICO_E_ARGUMENT);
    auto& bound = i.routes.emplace_back(std::make_unique<bound_route>(i, what, r.on_request, r.user));
    http::route entry;
    entry.method = r.method;
    entry.pattern = r.pattern;
    entry.owner = i.name;
    entry.max_body = r.max_body;
    entry.open = (r.flags & PORTICO_ROUTE_OPEN) != 0;
    entry.target = bound.get();
    const std::string problem = i.server.env.routes->add(std::move(entry));
    if (problem.empty()) return PORTICO_OK;
    i.routes.pop_back();
    const bool clash = problem.find("is already a route of") != std::string::npos;
    if (clash && i.clash.empty()) i.clash = problem;
    return i.fault(function, problem, clash ? PORTICO_E_STATE : PORTICO_E_ARGUMENT);
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

std::int32_t read(portico_exchange* x, std::size_t max, portico_str* chunk, portico_done done, void* user) noexcept {
  return on(x, "portico.http/1 read", [&](held_exchange& e) { return e.read(max, chunk, done, user); });
}
std::int32_t begin(portico_exchange* x, std::int32_t status, const portico_field* fields, std::size_t count,
                   std::int64_t content_length) noexcept {
  return on(x, "portico.http/1 begin",
            [&](held_exchange& e) { return e.begin(status, fields, count, content_length); });
}
std::int32_t write(portico_exchange* x, portico_str bytes, portico_done done, void* user) noexcept {
  return on(x, "portico.http/1 write", [&](held_exchange& e) { return e.write(bytes, done, user); });
}
std::int32_t send_file(portico_exchange* x, std::int64_t file, std::uint64_t offset, std::uint64_t size,
                       portico_done done, void* user) noexcept {
  return on(x, "portico.http/1 send_file",
            [&](held_exchange& e) { return e.send_file(file, offset, size, done, user); });
}
std::int32_t finish(portico_exchange* x) noexcept {
  return on(x, "portico.http/1 finish", [](held_exchange& e) { return e.finish(); });
}
std::int32_t abort(portico_exchange* x) noexcept {
  return on(x, "portico.http/1 abort", [](held_exchange& e) { return e.abort(); });
}
std::int32_t cancel(portico_exchange* x) noexcept {
  return on(x, "portico.http/1 cancel", [](held_exchange& e) { return e.cancel(); });
}
std::int32_t on_close(portico_exchange* x, portico_done fn, void* user) noexcept {
  return on(x, "portico.http/1 on_close", [&](held_exchange& e) { return e.on_close(fn, user); });
}
std::int32_t deadline(portico_exchange* x, std::uint32_t ms) noexcept {
  return on(x, "portico.http/1 deadline", [&](held_exchange& e) { return e.engine().deadline(ms); });
}

}  // namespace

const portico_http http_table = {sizeof(portico_http),
                                 0,
                                 &add_route,
                                 &read,
                                 &begin,
                                 &write,
                                 &finish,
                                 &abort,
                                 &cancel,
                                 &on_close,
                                 &deadline,
                                 &send_file};

}  // namespace portico::plugin
