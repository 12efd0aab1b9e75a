// portico/testing/websockets.hpp - portico.websocket/1 of the fake server.  Included by server.hpp.
#pragma once
#include "fake_server.hpp"

namespace portico::testing::detail {

inline int32_t ws_accept(portico_exchange* x, const portico_ws_options* o, portico_websocket** out) {
  if (!x->here("websocket accept")) return PORTICO_E_STATE;
  if (field_of(x->head_fields, "upgrade") != "websocket") return PORTICO_E_PROTOCOL;
  if (x->busy() || x->begun || x->filtered) return PORTICO_E_STATE;
  if (x->owner->stopping) return PORTICO_E_CANCELLED;
  auto* w = new portico_websocket(*x->owner, x->home);
  w->open = true;
  w->far = x->far;
  if (o->max_message) w->max = o->max_message;
  w->closed = x->gone;
  x->close_fn = nullptr;
  x->owner->live.erase(x);  // no longer held; only its head is still needed
  w->before.reset(x);
  w->far->exchange = nullptr;
  w->far->socket = w;
  w->far->status = 101;
  w->far->upgraded = true;
  *out = w;
  return PORTICO_OK;
}
inline int32_t ws_connect(const portico_host* h, const portico_ws_options* o, portico_websocket** out) {
  const int32_t l = on_loop(h, "websocket connect");
  if (l < 0) return PORTICO_E_STATE;
  instance& i = of(h);
  const std::string url = str(o->url);
  if (!url.starts_with("ws://")) return PORTICO_E_ARGUMENT;
  if (i.stopping) return PORTICO_E_CANCELLED;
  auto* w = new portico_websocket(i, static_cast<uint32_t>(l));
  if (o->max_message) w->max = o->max_message;
  w->remote = std::make_shared<upstream_socket>();
  w->remote->url = url;
  for (std::size_t k = 0; k < o->header_count; ++k)
    w->remote->headers.emplace_back(str(o->headers[k].name), str(o->headers[k].value));
  w->later(std::chrono::milliseconds(1), [w, &s = *i.srv, url] {
    const std::function<void(upstream_socket&)>* found = nullptr;
    std::size_t best = 0;
    for (const auto& [prefix, connected] : s.sockets)
      if (url.starts_with(prefix) && prefix.size() >= best) found = &connected, best = prefix.size();
    if (!found) return w->fail_all(PORTICO_E_UNREACHABLE);
    w->open = w->remote->open = true;
    w->remote->socket = w;
    w->complete(w->opening, PORTICO_OK);
    if (*found) (*found)(*w->remote);
  });
  *out = w;
  return PORTICO_OK;
}
inline int32_t ws_ready(portico_websocket* w, portico_done fn, void* user) {
  if (!w->here("websocket ready") || w->opening.busy) return PORTICO_E_STATE;
  if (!fn) return PORTICO_E_ARGUMENT;
  if (w->failure) return w->failure;
  if (w->open) return PORTICO_READY;
  return w->begin(w->opening, fn, user);
}
inline int32_t ws_receive(portico_websocket* w, portico_message* out, portico_done fn, void* user) {
  if (!w->here("websocket receive") || w->receiving.busy) return PORTICO_E_STATE;
  if (!out || !fn) return PORTICO_E_ARGUMENT;
  if (w->failure) return w->failure;
  w->out = out;
  w->begin(w->receiving, fn, user);
  w->arrived();
  return PORTICO_OK;
}
inline int32_t ws_send(portico_websocket* w, int32_t kind, portico_str bytes, portico_done fn, void* user) {
  if (!w->here("websocket send") || w->sending.busy) return PORTICO_E_STATE;
  if (kind != PORTICO_WS_TEXT && kind != PORTICO_WS_BINARY) return PORTICO_E_ARGUMENT;
  if (bytes.size > w->max) return PORTICO_E_LIMIT;
  if (w->closed || w->closing) return PORTICO_E_CLOSED;
  if (w->failure) return w->failure;
  if (!fn && w->queued >= high_water) return PORTICO_E_LIMIT;
  w->later(std::chrono::milliseconds(0), [w, message = str(bytes)] { w->deliver(message); });
  w->queued += bytes.size;
  if (w->queued < high_water || !fn) return fn ? PORTICO_READY : PORTICO_OK;
  w->later(std::chrono::milliseconds(1), [w] {
    w->queued = 0;
    w->complete(w->sending, w->closed ? PORTICO_E_CLOSED : PORTICO_OK);
  });
  return w->begin(w->sending, fn, user);
}
inline int32_t ws_cancel(portico_websocket* w) {
  if (!w->here("websocket cancel")) return PORTICO_E_STATE;
  for (auto* s : {&w->opening, &w->receiving, &w->sending}) w->complete(*s, PORTICO_E_CANCELLED);
  return PORTICO_OK;
}
inline int32_t ws_close(portico_websocket* w, int32_t code, portico_str) {
  if (!w->here("websocket close") || w->busy()) return PORTICO_E_STATE;
  w->ends(code);
  delete w;
  return PORTICO_OK;
}
inline int32_t ws_shutdown(portico_websocket* w, int32_t code, portico_str) {
  if (!w->here("websocket shutdown") || w->closing) return PORTICO_E_STATE;
  w->closing = true;
  w->later(std::chrono::milliseconds(0), [w, code] {
    w->ends(code);
    w->closed = true;
    w->code = code;
    w->arrived();
  });
  return PORTICO_OK;
}

}  // namespace portico::testing::detail

inline portico_websocket::~portico_websocket() {
  if (far) far->socket = nullptr;
  if (remote) remote->socket = nullptr;
}
inline void portico_websocket::arrived() {
  if (!receiving.waiting) return;
  if (!in.empty()) {
    auto [bytes, kind] = std::move(in.front());
    in.pop_front();
    current = std::move(bytes);
    if (current.size() > max) return fail_all(PORTICO_E_LIMIT);
    *out = {kind, 0, portico::testing::detail::abi(current)};
    return complete(receiving, PORTICO_OK);
  }
  if (!closed) return;
  *out = {0, code, {nullptr, 0}};
  complete(receiving, PORTICO_E_CLOSED);
}
inline void portico_websocket::deliver(const std::string& message) {
  if (far) far->messages.push_back(message);
  if (!remote) return;
  remote->received.push_back(message);
  const auto keep = remote;
  if (keep->on_message) keep->on_message(*keep, message);
}
inline void portico_websocket::ends(int32_t with_code) {
  if (far && !far->over) far->close_code = with_code, far->over = true;
  if (remote && remote->open) remote->close_code = with_code, remote->open = false;
}
inline void portico_websocket::fail_all(int32_t status) {
  if (!failure) failure = status;
  for (auto* s : {&opening, &receiving, &sending}) complete(*s, status);
}

inline void portico::testing::upstream_socket::send(std::string text, bool binary) {
  if (!socket) return;
  socket->in.emplace_back(std::move(text), binary ? PORTICO_WS_BINARY : PORTICO_WS_TEXT);
  socket->arrived();
}
inline void portico::testing::upstream_socket::close(int close_with) {
  open = false;
  if (!socket) return;
  socket->closed = true;
  socket->code = close_with;
  socket->arrived();
}
