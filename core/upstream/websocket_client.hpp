// core/upstream/websocket_client.hpp - a websocket to another server, from the first packet on.  Private to
// core/upstream.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/http/websocket_session.hpp"
#include "core/loop/loop.hpp"
#include "core/upstream/call.hpp"
#include "core/upstream/client_state.hpp"
#include "core/upstream/connector.hpp"

namespace portico::upstream {

class websocket_impl final : public websocket, connector::observer, http::byte_stream::observer {
 public:
  // offered: the subprotocols, comma-separated.  key: of the handshake whose request stands in head_bytes().
  websocket_impl(std::shared_ptr<client_state>, const http::websocket_options&, std::string_view offered,
                 std::string key);
  ~websocket_impl() override;
  void start(origin&, std::string_view host, std::uint16_t port, std::chrono::milliseconds limit);
  http::buffer& head_bytes() noexcept { return head_; }

  base::status ready(base::completion done, void* user) override;
  base::status receive(http::websocket_message* out, base::completion done, void* user) override;
  base::status send(bool text, std::string_view bytes, base::completion done, void* user) override;
  base::status shutdown(int code, std::string_view reason) override;
  base::status cancel() override;
  void stop() override;
  bool busy() const noexcept override { return readying_ || (open_ && open_->busy()); }
  void close(int code, std::string_view reason) override;

 private:
  void on_connected(std::unique_ptr<socket_stream>) noexcept override;
  void on_unreachable() noexcept override;
  void on_bytes() noexcept override;
  void on_drained() noexcept override {}
  void on_lost(base::status) noexcept override;
  void on_timer();
  void on_answer();
  void fail(base::status);
  void let_go();

  const std::shared_ptr<client_state> client_;
  const http::websocket_options options_;
  const std::string offered_, key_;
  origin* origin_ = nullptr;
  std::unique_ptr<connector> connector_;
  std::unique_ptr<socket_stream> stream_;
  http::buffer head_;  // the request, then the answer
  http::response_parser parser_;
  loop::timer timer_, resume_;
  waiting readying_;
  base::status fault_ = base::ok;
  bool cancelled_ = false, stopped_ = false, shut_down_ = false;
  std::unique_ptr<http::websocket> open_;
};

}  // namespace portico::upstream
