#include "core/upstream/websocket_client.hpp"

#include <utility>

#include "core/http/websocket_handshake.hpp"

namespace portico::upstream {
namespace {

constexpr std::size_t head_room = 4096;
constexpr std::chrono::milliseconds stall{30'000};  // the other end takes no byte of what is queued

http::websocket_options without_protocol(http::websocket_options o) {
  o.protocol = {};  // a view of the caller's
  return o;
}

}  // namespace

websocket_impl::websocket_impl(std::shared_ptr<client_state> client, const http::websocket_options& options,
                               std::string_view offered, std::string key)
    : client_(std::move(client)),
      options_(without_protocol(options)),
      offered_(offered),
      key_(std::move(key)),
      head_(client_->buffers),
      parser_(client_->limits),
      timer_(
          client_->loop, [](void* self) { static_cast<websocket_impl*>(self)->on_timer(); }, this),
      resume_(
          client_->loop,
          [](void* self) {
            auto& ws = *static_cast<websocket_impl*>(self);
            if (std::exchange(ws.cancelled_, false) && ws.readying_) ws.fail(base::cancelled);
          },
          this) {}

websocket_impl::~websocket_impl() {
  let_go();
  if (origin_) --origin_->users;
}

void websocket_impl::start(origin& at, std::string_view host, std::uint16_t port, std::chrono::milliseconds limit) {
  origin_ = &at;
  ++at.users;
  timer_.start_at(client_->loop.now() + limit);
  connector_ = std::make_unique<connector>(*client_, static_cast<connector::observer&>(*this), stall);
  connector_->start(at, host, port, client_->loop.now() + limit);
}

// ---- the handshake ----

void websocket_impl::on_unreachable() noexcept { fail(base::unreachable); }

void websocket_impl::on_connected(std::unique_ptr<socket_stream> stream) noexcept {
  stream_ = std::move(stream);
  connector_.reset();
  stream_->observe(*this, 0);
  stream_->send(head_.view());
  head_.clear();
}

void websocket_impl::on_bytes() noexcept {
  const std::span<char> room = head_.room(head_room);
  std::size_t got = 0;
  const base::status s = stream_->receive(room.data(), room.size(), &got);
  if (s == base::ok) return;
  if (s != base::ready) return fail(base::closed);
  head_.added(got);
  switch (parser_.parse(head_.data(), head_.size())) {
    case http::parsed::more:
      return stream_->listen();
    case http::parsed::complete:
      return on_answer();
    case http::parsed::refused:
      client_->misunderstood(*origin_, talk::websocket, parser_.why().message);
      return fail(base::protocol);
  }
}

void websocket_impl::on_answer() {
  std::string why;
  if (parser_.status() != 101)
    why = "it answered a websocket's handshake with " + std::to_string(parser_.status());
  else
    why = http::websocket_answer_fault(parser_.headers(), key_, offered_);
  if (!why.empty()) {
    client_->misunderstood(*origin_, talk::websocket, why);
    return fail(base::protocol);
  }
  client_->understood(*origin_, talk::websocket);
  timer_.cancel();
  const std::string_view behind = head_.view().substr(parser_.size());
  open_ = http::make_websocket(std::move(stream_), http::websocket_role::client, options_, behind);
  head_.release();
  if (stopped_) open_->stop();
  if (readying_) readying_.complete(base::ok);
}

void websocket_impl::on_lost(base::status why) noexcept { fail(why); }

void websocket_impl::on_timer() { fail(stream_ ? base::timeout : base::unreachable); }

void websocket_impl::let_go() {
  timer_.cancel();
  connector_.reset();
  stream_.reset();
  head_.release();
}

// The last thing its caller does: whoever waits may destroy this.
void websocket_impl::fail(base::status why) {
  if (fault_ == base::ok) fault_ = why;
  client_->failures.add();
  let_go();
  if (readying_) readying_.complete(fault_);
}

// ---- what the owner asks ----

base::status websocket_impl::ready(base::completion done, void* user) {
  if (readying_) return base::state;
  if (fault_ != base::ok) return fault_;
  if (open_) return base::ready;
  if (stopped_) return base::cancelled;
  readying_ = {done, user};
  return base::ok;
}

base::status websocket_impl::receive(http::websocket_message* out, base::completion done, void* user) {
  if (open_) return open_->receive(out, done, user);
  *out = {};
  if (shut_down_) return out->close_code = 1006, base::closed;
  return fault_ != base::ok ? fault_ : base::state;
}

base::status websocket_impl::send(bool text, std::string_view bytes, base::completion done, void* user) {
  if (open_) return open_->send(text, bytes, done, user);
  if (shut_down_) return base::closed;
  return fault_ != base::ok ? fault_ : base::state;
}

base::status websocket_impl::shutdown(int code, std::string_view reason) {
  if (open_) return open_->shutdown(code, reason);
  if (!http::is_close_reason(code, reason)) return base::argument;
  if (shut_down_) return base::state;
  // Without a handshake there is nothing to close politely: the socket is gone at once.
  shut_down_ = true;
  if (fault_ == base::ok) fault_ = base::closed;
  let_go();
  if (readying_) cancelled_ = true, resume_.start(std::chrono::milliseconds(0));
  return base::ok;
}

base::status websocket_impl::cancel() {
  if (open_) return open_->cancel();
  if (readying_) cancelled_ = true, resume_.start(std::chrono::milliseconds(0));
  return base::ok;
}

void websocket_impl::stop() {
  stopped_ = true;
  open_ ? open_->stop() : void(cancel());
}

void websocket_impl::close(int code, std::string_view reason) {
  if (open_) return open_->close(code, reason);
  if (fault_ == base::ok) fault_ = base::closed;
  let_go();
}

}  // namespace portico::upstream
