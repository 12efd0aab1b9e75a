// portico/websocket.hpp - whole messages, either way.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operation.hpp"
#include "request.hpp"

namespace portico {
inline namespace v1 {

class websocket_options {
 public:
  websocket_options() = default;
  explicit websocket_options(std::string url) : url_(std::move(url)) {}
  websocket_options& protocol(std::string name) { return protocol_ = std::move(name), *this; }
  websocket_options& header(std::string name, std::string value) {  // connect only
    headers_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  websocket_options& connect_timeout(std::chrono::milliseconds d) {
    return connect_ = static_cast<uint32_t>(d.count()), *this;
  }
  websocket_options& max_message(std::size_t bytes) { return max_ = bytes, *this; }
  websocket_options& ping_every(std::chrono::milliseconds d) { return ping_ = static_cast<uint32_t>(d.count()), *this; }
  // For the SDK: calls f(options) with views that live during the call.
  template <class F>
  int32_t with_raw(F&& f) const {
    std::vector<portico_field> fields;
    for (const auto& h : headers_) fields.push_back({to_abi(h.first), to_abi(h.second)});
    const portico_ws_options raw = {sizeof(portico_ws_options),
                                    ping_,
                                    connect_,
                                    0,
                                    max_,
                                    to_abi(protocol_),
                                    to_abi(url_),
                                    fields.data(),
                                    fields.size()};
    return f(&raw);
  }

 private:
  std::string url_, protocol_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::size_t max_ = 0;
  uint32_t ping_ = 0, connect_ = 0;
};

// One at a time of send and of receive; a send may be pending while a receive is.  The destructor gives it back.
class websocket {
  class op : public operation {
   public:
    op(context c, portico_websocket* raw) noexcept : operation(c), raw_(raw) {}

   protected:
    ~op() = default;
    void cancel() noexcept override { server().websocket().cancel(raw_); }
    portico_websocket* raw_;
  };

 public:
  // The request is over when this returns; end the handler with `co_return ws.end();`.  http_error 426: not an upgrade.
  static websocket accept(request& r, const websocket_options& o = {}) { return websocket(r, o); }
  // Starts to connect; co_await ready() to know that it has.
  static websocket connect(context c, const websocket_options& o) { return websocket(c, o); }
  websocket(const websocket&) = delete;
  websocket& operator=(const websocket&) = delete;
  ~websocket() {
    if (raw_) context_.server().websocket().close(raw_, 1001, portico_str{nullptr, 0});
  }

  class message {
   public:
    explicit message(const portico_message& m) noexcept : raw_(m) {}
    bool is_text() const noexcept { return raw_.kind == PORTICO_WS_TEXT; }
    std::string_view bytes() const noexcept { return view(raw_.bytes); }

   private:
    portico_message raw_;
  };

  class [[nodiscard]] ready_op final : public op {
   public:
    using op::op;
    void await_resume() const { check(status()); }

   private:
    int32_t start() override { return server().websocket().ready(raw_, &done, arg()); }
  };
  ready_op ready() noexcept { return ready_op(context_, raw_); }

  // Nothing when the other end has closed.  The bytes are valid until the next receive.
  class [[nodiscard]] receive_op final : public op {
   public:
    using op::op;
    std::optional<message> await_resume() const {
      if (status() == PORTICO_E_CLOSED) return std::nullopt;
      check(status());
      return message(message_);
    }

   private:
    int32_t start() override { return server().websocket().receive(raw_, &message_, &done, arg()); }
    portico_message message_{};
  };
  receive_op receive() noexcept { return receive_op(context_, raw_); }

  class [[nodiscard]] send_op final : public op {
   public:
    send_op(context c, portico_websocket* raw, int32_t kind, std::string_view bytes) noexcept
        : op(c, raw), kind_(kind), bytes_(bytes) {}
    void await_resume() const { check(status()); }

   private:
    int32_t start() override { return server().websocket().send(raw_, kind_, to_abi(bytes_), &done, arg()); }
    int32_t kind_;
    std::string_view bytes_;
  };
  send_op send_text(std::string_view text) noexcept { return send_op(context_, raw_, PORTICO_WS_TEXT, text); }
  send_op send_binary(std::string_view bytes) noexcept { return send_op(context_, raw_, PORTICO_WS_BINARY, bytes); }

  // Begins to close but keeps the websocket: then receive until it gives nothing, and the connection has really ended.
  // For whoever must not open a new connection while the other end still has the old one.
  void shutdown(int32_t code = 1000, std::string_view reason = {}) {
    check(context_.server().websocket().shutdown(raw_, code, to_abi(reason)));
  }

  // Closes politely.  The value is what a handler that accepted returns.
  response end(int32_t code = 1000, std::string_view reason = {}) {
    if (raw_) context_.server().websocket().close(std::exchange(raw_, nullptr), code, to_abi(reason));
    return response(0);
  }

 private:
  websocket(request& r, const websocket_options& o) : context_(r.server()) {
    if (!r.exchange()) throw error(PORTICO_E_STATE);
    const int32_t rc = o.with_raw(
        [&](const portico_ws_options* raw) { return r.server().websocket().accept(r.exchange(), raw, &raw_); });
    if (rc == PORTICO_E_PROTOCOL) throw http_error(426, "upgrade_required", "this address speaks WebSocket only");
    check(rc);
    r.given_back();
  }
  websocket(context c, const websocket_options& o) : context_(c) {
    check(o.with_raw(
        [&](const portico_ws_options* raw) { return c.server().websocket().connect(c.server().raw(), raw, &raw_); }));
  }
  context context_;
  portico_websocket* raw_ = nullptr;
};

}  // namespace v1
}  // namespace portico
