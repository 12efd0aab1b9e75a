// core/plugin/host_websocket.hpp - a websocket while a plugin holds it.
#pragma once
#include <memory>

#include <portico/abi/websocket.h>

#include "core/http/websocket.hpp"
#include "core/plugin/tables.hpp"
#include "core/upstream/client.hpp"

namespace portico::plugin {

class held_exchange;

class held_websocket final : public object {
 public:
  static constexpr kind its_kind = kind::websocket;
  explicit held_websocket(loop_state& home) : object(its_kind, home) {}

  // before: the exchange it was, whose head stays readable as long as the websocket is held.
  void accepted(std::unique_ptr<http::websocket>, held_exchange& before);
  void connecting(std::unique_ptr<upstream::websocket>);
  void stop() noexcept override { socket_->stop(); }

  std::int32_t ready(portico_done, void* user);
  std::int32_t receive(portico_message* out, portico_done, void* user);
  std::int32_t send(std::int32_t kind, portico_str bytes, portico_done, void* user);
  std::int32_t close(std::int32_t code, portico_str reason);
  std::int32_t shutdown(std::int32_t code, portico_str reason);
  http::websocket& engine() const noexcept { return *socket_; }

 private:
  static void ready_done(void*, base::status) noexcept;
  static void receive_done(void*, base::status) noexcept;
  static void send_done(void*, base::status) noexcept;
  void call(pending&, base::status) noexcept;
  void give_message(base::status) noexcept;

  std::unique_ptr<http::websocket> socket_;
  upstream::websocket* upstream_ = nullptr;  // the same object, if it was opened by connect
  held_exchange* before_ = nullptr;
  http::websocket_message message_;
  portico_message* out_ = nullptr;
  pending opening_, receiving_, sending_;
};

}  // namespace portico::plugin
