// The ends a websocket client may meet: a scripted one, and the accepting side of core/http.
#pragma once
#include <cstring>
#include <string>

#include "bench.hpp"
#include "core/http/exchange.hpp"
#include "core/http/server.hpp"
#include "core/http/websocket_frame.hpp"
#include "core/http/websocket_handshake.hpp"
#include "scripted_server.hpp"

namespace feed_bench {

using namespace bench;
using scripted::peer;
using scripted::server;

inline std::string ws_url(const server& s) { return "ws://" + s.host() + "/ws?clientId=a"; }

// Reads the upgrade request and agrees.  The request's head.
inline std::string agree(peer& p, const std::string& more = "") {
  const std::string head = p.read_head();
  const std::string name = "Sec-WebSocket-Key: ";
  const std::size_t at = head.find(name);
  const std::string key = at == head.npos ? "" : head.substr(at + name.size(), 24);
  p.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
          http::websocket_accept(key) + "\r\n" + more + "\r\n");
  return head;
}

inline std::string frame(http::opcode code, const std::string& payload, bool final = true) {
  return std::string(http::frame_head(code, final, payload.size(), nullptr).bytes()) + payload;
}

// The payload of the next frame, unmasked; the code in *code.
inline std::string read_frame(peer& p, http::opcode* code = nullptr) {
  const std::string start = p.read_exactly(2);
  if (start.size() < 2) return "end";
  std::size_t size = static_cast<unsigned char>(start[1]) & 0x7f;
  if (size >= 126) {
    const std::string wide = p.read_exactly(size == 126 ? 2 : 8);
    size = 0;
    for (char c : wide) size = size << 8 | static_cast<unsigned char>(c);
  }
  http::mask_key key;
  std::memcpy(key.data(), p.read_exactly(4).data(), 4);
  std::string payload = p.read_exactly(size);
  http::apply_mask(payload.data(), payload.size(), key, 0);
  if (code) *code = static_cast<http::opcode>(start[0] & 0x0f);
  return payload;
}

struct feed {
  explicit feed(loops& to) : l(to) {}
  ~feed() {
    l.on([this] { ws.reset(); });
  }
  base::status connect(const std::string& url) {
    base::status s = 99;
    l.on([&] {
      call.url = url;
      s = l.client->connect(call, &ws);
    });
    return s;
  }
  base::status ready() {
    return wait([&](outcome& o) { return ws->ready(&outcome::done, &o); });
  }
  base::status receive() {
    return wait([&](outcome& o) { return ws->receive(&message, &outcome::done, &o); });
  }
  base::status send(bool text, std::string_view bytes) {
    return wait([&](outcome& o) { return ws->send(text, bytes, &outcome::done, &o); });
  }
  base::status wait(std::function<base::status(outcome&)> start) {
    outcome o;
    base::status s = 99;
    l.on([&] { s = start(o); });
    if (s != base::ok) return s == base::ready ? base::ok : s;
    return l.until([&] { return o.calls > 0; }) ? o.status : 98;
  }
  loops& l;
  upstream::websocket_call call;
  std::unique_ptr<upstream::websocket> ws;
  http::websocket_message message;
};

// Sends every message back, over the server of core/http.
class echo_server final : public http::handler {
 public:
  explicit echo_server(loops& l) : loops_(l) {
    loop::event_loop* const all[] = {&l.loop};
    options.max_message = 100 << 20;
    server_ = std::make_unique<http::server>(all, http::limits{}, *this);
    port = server_->listen("127.0.0.1", 0);
    l.on([&] { server_->start(); });
  }
  ~echo_server() {
    loops_.on([&] {
      ws.reset();
      server_->close_all();
    });
    loops_.turn(20ms);
    server_.reset();
  }
  void on_exchange(http::exchange& x) noexcept override {
    refused = x.accept_websocket(options, &ws);
    if (refused != base::ok)
      return http::answer_error(x, 426, "upgrade_required", "this address speaks WebSocket only");
    next();
  }
  void next() {
    while (ws) {
      const base::status s = ws->receive(&message, &received, this);
      if (s == base::ok) return;
      if (s < 0) return ended(s);
      if (!echo()) return;
    }
  }
  bool echo() { return ws->send(message.text, message.bytes, &sent, this) == base::ready; }
  static void received(void* self, base::status s) {
    auto& e = *static_cast<echo_server*>(self);
    if (s < 0) return e.ended(s);
    if (e.echo()) e.next();
  }
  static void sent(void* self, base::status s) {
    auto& e = *static_cast<echo_server*>(self);
    s < 0 ? e.ended(s) : e.next();
  }
  void ended(base::status s) {
    end = s;
    code = message.close_code;
    ws.reset();
  }
  std::string url() const { return "ws://127.0.0.1:" + std::to_string(port) + "/echo"; }

  http::websocket_options options;
  std::uint16_t port = 0;
  std::unique_ptr<http::websocket> ws;
  http::websocket_message message;
  base::status refused = 99, end = 99;
  int code = 0;

 private:
  loops& loops_;
  std::unique_ptr<http::server> server_;
};

}  // namespace feed_bench
