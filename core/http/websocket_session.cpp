#include "core/http/websocket_session.hpp"

#include <algorithm>
#include <utility>

#include "core/http/websocket_state.hpp"

namespace portico::http {

websocket_state::websocket_state(std::unique_ptr<byte_stream> stream, websocket_role role,
                                 const websocket_options& options, std::string_view received)
    : stream_(std::move(stream)),
      home_(stream_->home()),
      role_(role),
      ping_(options.ping),
      close_wait_(options.close_wait),
      max_message_(options.max_message),
      high_water_(std::max<std::size_t>(options.high_water, 1)),
      decoder_(role, options.max_message),
      timer_(
          home_, [](void* self) { static_cast<websocket_state*>(self)->on_timer(); }, this),
      resume_(
          home_, [](void* self) { static_cast<websocket_state*>(self)->on_resume(); }, this),
      heard_(home_.now()),
      input_(received.begin(), received.end()) {
  stream_->observe(*this, high_water_ / 2);
  if (ping_.count() > 0) timer_.start(ping_);
  later();
}

// ---- what the owner asks ----

base::status websocket_state::receive(websocket_message* out, base::completion done, void* user) {
  if (receiving_) return base::state;
  if (stopped_) return base::cancelled;
  const visit here(*this);
  out_ = out;
  *out_ = {};
  if (!ahead_) advance();
  if (sending_ && cannot_send() != base::ok) later();
  if (ahead_) return deliver(), base::ready;
  if (const base::status s = ended(); s != base::ok) return s;
  receiving_ = {done, user};
  return base::ok;
}

base::status websocket_state::send(bool text, std::string_view bytes, base::completion done, void* user) {
  if (done && sending_) return base::state;
  if (bytes.size() > max_message_) return base::limit;
  if (const base::status s = cannot_send(); s != base::ok) return s;
  if (text) {
    utf8_check check;
    if (!check.feed(bytes) || !check.complete()) return base::argument;
  }
  if (!done && stream_->queued() >= high_water_) return base::limit;
  queue(text ? opcode::text : opcode::binary, bytes);
  if (!done) return base::ok;
  if (stream_->queued() < high_water_) return base::ready;
  if (stopped_) return base::cancelled;
  sending_ = {done, user};
  return base::ok;
}

base::status websocket_state::shutdown(int code, std::string_view reason) {
  if (!is_close_reason(code, reason)) return base::argument;
  if (shut_down_) return base::state;
  shut_down_ = true;
  if (stream_ && !close_sent_) begin_close(code, reason);
  return base::ok;
}

void websocket_state::cancel() {
  if (!busy()) return;
  receiving_.cancelled = sending_.cancelled = true;
  later();
}

void websocket_state::stop() {
  stopped_ = true;
  cancel();
}

void websocket_state::give_back(int code, std::string_view reason) {
  const visit here(*this);
  held_ = false;
  receiving_ = sending_ = websocket_waiter();
  ahead_ = false;
  decoder_.discard_messages();
  if (!stream_) return;
  const bool fit = is_close_reason(code, reason);
  if (!close_sent_) begin_close(fit ? code : 1000, fit ? reason : std::string_view());
  later();
}

namespace {

// What the owner holds.
class handle final : public websocket {
 public:
  explicit handle(websocket_state* s) noexcept : state_(s) {}
  ~handle() override { close(1001, {}); }
  base::status receive(websocket_message* out, base::completion done, void* user) override {
    return state_ ? state_->receive(out, done, user) : base::state;
  }
  base::status send(bool text, std::string_view bytes, base::completion done, void* user) override {
    return state_ ? state_->send(text, bytes, done, user) : base::state;
  }
  base::status shutdown(int code, std::string_view reason) override {
    return state_ ? state_->shutdown(code, reason) : base::state;
  }
  base::status cancel() override {
    if (state_) state_->cancel();
    return base::ok;
  }
  void stop() override {
    if (state_) state_->stop();
  }
  bool busy() const noexcept override { return state_ && state_->busy(); }
  void close(int code, std::string_view reason) override {
    if (state_) std::exchange(state_, nullptr)->give_back(code, reason);
  }

 private:
  websocket_state* state_;
};

}  // namespace

std::unique_ptr<websocket> make_websocket(std::unique_ptr<byte_stream> stream, websocket_role role,
                                          const websocket_options& options, std::string_view received) {
  return std::make_unique<handle>(new websocket_state(std::move(stream), role, options, received));
}

bool is_close_reason(int code, std::string_view reason) noexcept {
  utf8_check check;
  return is_close_code(code) && reason.size() <= max_close_reason && check.feed(reason) && check.complete();
}

}  // namespace portico::http
