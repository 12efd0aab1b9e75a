#include "core/plugin/host_websocket.hpp"

#include <utility>

#include "core/plugin/host_http.hpp"

namespace portico::plugin {

namespace {
constexpr std::size_t oldest_options =
    offsetof(portico_ws_options, header_count) + sizeof(portico_ws_options::header_count);
}

void held_websocket::accepted(std::unique_ptr<http::websocket> socket, held_exchange& before) {
  socket_ = std::move(socket);
  upstream_ = nullptr;
  before_ = &before;
  opening_ = receiving_ = sending_ = {};
}

void held_websocket::connecting(std::unique_ptr<upstream::websocket> socket) {
  upstream_ = socket.get();
  socket_ = std::move(socket);
  before_ = nullptr;
  opening_ = receiving_ = sending_ = {};
}

void held_websocket::call(pending& p, base::status status) noexcept {
  call_done(home_, where(), std::exchange(p, pending{}), status);
}

void held_websocket::give_message(base::status s) noexcept {
  *out_ = {message_.text ? PORTICO_WS_TEXT : PORTICO_WS_BINARY, 0, {}};
  if (s >= 0) out_->bytes = to_abi(message_.bytes);
  if (s == base::closed) out_->close_code = message_.close_code;
}

void held_websocket::ready_done(void* self, base::status status) noexcept {
  auto& w = *static_cast<held_websocket*>(self);
  w.call(w.opening_, status);
}
void held_websocket::receive_done(void* self, base::status status) noexcept {
  auto& w = *static_cast<held_websocket*>(self);
  w.give_message(status);
  w.call(w.receiving_, status);
}
void held_websocket::send_done(void* self, base::status status) noexcept {
  auto& w = *static_cast<held_websocket*>(self);
  w.call(w.sending_, status);
}

std::int32_t held_websocket::ready(portico_done done, void* user) {
  if (!done) return owner().fault("portico.websocket/1 ready", "done is NULL", PORTICO_E_ARGUMENT);
  if (opening_) return PORTICO_E_STATE;
  if (!upstream_) return PORTICO_READY;
  const base::status s = upstream_->ready(&ready_done, this);
  if (s == base::ok) opening_ = {done, user};
  return s;
}

std::int32_t held_websocket::receive(portico_message* out, portico_done done, void* user) {
  if (!out || !done) return owner().fault("portico.websocket/1 receive", "out or done is NULL", PORTICO_E_ARGUMENT);
  if (receiving_) return PORTICO_E_STATE;
  message_ = {};
  const base::status s = socket_->receive(&message_, &receive_done, this);
  out_ = out;
  if (s == base::ok)
    receiving_ = {done, user};
  else if (s != base::state)
    give_message(s);
  return s;
}

std::int32_t held_websocket::send(std::int32_t what, portico_str bytes, portico_done done, void* user) {
  if (!sound(bytes) || (what != PORTICO_WS_TEXT && what != PORTICO_WS_BINARY))
    return owner().fault("portico.websocket/1 send", "bytes.data is NULL, or the kind is neither text nor binary",
                         PORTICO_E_ARGUMENT);
  if (sending_) return PORTICO_E_STATE;
  const base::status s = socket_->send(what == PORTICO_WS_TEXT, view(bytes), done ? &send_done : nullptr, this);
  if (s == base::ok && done) sending_ = {done, user};
  return s;
}

std::int32_t held_websocket::close(std::int32_t code, portico_str reason) {
  if (!sound(reason)) return owner().fault("portico.websocket/1 close", "reason.data is NULL", PORTICO_E_ARGUMENT);
  if (socket_->busy() || opening_ || receiving_ || sending_) return PORTICO_E_STATE;
  socket_->close(code, view(reason));
  socket_.reset();
  upstream_ = nullptr;
  if (held_exchange* const before = std::exchange(before_, nullptr)) before->keep_no_longer();
  home_.websockets->give(*this);
  return PORTICO_OK;
}

std::int32_t held_websocket::shutdown(std::int32_t code, portico_str reason) {
  if (!sound(reason)) return owner().fault("portico.websocket/1 shutdown", "reason.data is NULL", PORTICO_E_ARGUMENT);
  return socket_->shutdown(code, view(reason));
}

namespace {

template <class F>
std::int32_t on(portico_websocket* w, const char* function, F&& f) noexcept {
  try {
    held_websocket* const held = resolve<held_websocket>(w, function);
    return held ? f(*held) : PORTICO_E_STATE;
  } catch (...) {
    return PORTICO_E_FAILED;  // no memory
  }
}

http::websocket_options options_from(const portico_ws_options& o) {
  http::websocket_options out;
  if (o.ping_ms) out.ping = std::chrono::milliseconds(o.ping_ms);
  if (o.max_message) out.max_message = o.max_message;
  out.protocol = view(o.protocol);
  return out;
}

std::int32_t accept(portico_exchange* x, const portico_ws_options* given, portico_websocket** out) noexcept {
  constexpr const char* function = "portico.websocket/1 accept";
  try {
    held_exchange* const e = resolve<held_exchange>(x, function);
    if (!e) return PORTICO_E_STATE;
    instance& i = e->owner();
    loop_state& l = e->home();
    portico_ws_options o;
    if (!out || !take_struct(given, oldest_options, &o) || !sound(o.protocol))
      return i.fault(function, "out is NULL, the options' struct_size is too small, or protocol cannot be read",
                     PORTICO_E_ARGUMENT);
    if (!i.accepts_operations()) return PORTICO_E_CANCELLED;
    if (e->is_filtered()) return i.fault(function, "a filter must not accept a websocket", PORTICO_E_STATE);
    if (e->busy() || e->engine().begun()) return PORTICO_E_STATE;
    held_websocket* const w = l.websockets->take(l.handles, i, e->where());
    if (!w) return PORTICO_E_LIMIT;
    std::unique_ptr<http::websocket> socket;
    base::status s = base::failed;
    try {
      s = e->engine().accept_websocket(options_from(o), &socket);
    } catch (...) {
    }
    if (s < 0) {
      l.websockets->give(*w);
      return s;
    }
    e->became_websocket();
    w->accepted(std::move(socket), *e);
    *out = to_handle<portico_websocket>(*w);
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

std::int32_t connect(const portico_host* h, const portico_ws_options* given, portico_websocket** out) noexcept {
  constexpr const char* function = "portico.websocket/1 connect";
  loop_state* const l = on_loop(h, function);
  if (!l) return PORTICO_E_STATE;
  instance& i = of(h);
  portico_ws_options o;
  if (!out || !take_struct(given, oldest_options, &o) || !sound(o.protocol) || !sound(o.url))
    return i.fault(function, "out is NULL, the options' struct_size is too small, or a text cannot be read",
                   PORTICO_E_ARGUMENT);
  if (!i.accepts_operations()) return PORTICO_E_CANCELLED;
  if (!l->client) return i.fault(function, "this server has no upstream client", PORTICO_E_ABSENT);
  if (!take_fields(*l, o.headers, o.header_count))
    return i.fault(function, "the headers cannot be read", PORTICO_E_ARGUMENT);
  try {
    upstream::websocket_call call;
    call.url = view(o.url);
    call.protocol = view(o.protocol);
    call.headers = l->fields;
    call.connect = std::chrono::milliseconds(o.connect_ms);
    call.options = options_from(o);
    call.options.protocol = {};
    std::unique_ptr<upstream::websocket> socket;
    const base::status s = l->client->connect(call, &socket);
    if (s == base::argument) i.fault(function, "a bad URL or header; the URL may be ws:// only");
    if (s < 0) return s;
    held_websocket* const w = l->websockets->take(l->handles, i, i.in_websocket);
    if (!w) return PORTICO_E_LIMIT;
    w->connecting(std::move(socket));
    *out = to_handle<portico_websocket>(*w);
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

std::int32_t ready(portico_websocket* w, portico_done done, void* user) noexcept {
  return on(w, "portico.websocket/1 ready", [&](held_websocket& held) { return held.ready(done, user); });
}
std::int32_t receive(portico_websocket* w, portico_message* out, portico_done done, void* user) noexcept {
  return on(w, "portico.websocket/1 receive", [&](held_websocket& held) { return held.receive(out, done, user); });
}
std::int32_t send(portico_websocket* w, std::int32_t what, portico_str bytes, portico_done done, void* user) noexcept {
  return on(w, "portico.websocket/1 send", [&](held_websocket& held) { return held.send(what, bytes, done, user); });
}
std::int32_t cancel(portico_websocket* w) noexcept {
  return on(w, "portico.websocket/1 cancel", [](held_websocket& held) { return held.engine().cancel(); });
}
std::int32_t close(portico_websocket* w, std::int32_t code, portico_str reason) noexcept {
  return on(w, "portico.websocket/1 close", [&](held_websocket& held) { return held.close(code, reason); });
}
std::int32_t shutdown(portico_websocket* w, std::int32_t code, portico_str reason) noexcept {
  return on(w, "portico.websocket/1 shutdown", [&](held_websocket& held) { return held.shutdown(code, reason); });
}

}  // namespace

const portico_websocket_api websocket_table = {
    sizeof(portico_websocket_api), 0, &accept, &connect, &ready, &receive, &send, &cancel, &close, &shutdown};

}  // namespace portico::plugin
