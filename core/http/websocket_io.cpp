// What the stream and the clock tell a websocket, and its frames both ways.
#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "core/base/log.hpp"
#include "core/http/websocket_state.hpp"

namespace portico::http {
namespace {

constexpr int no_code = 1006;
constexpr unsigned pings_before_timeout = 2;
constexpr unsigned reads_per_turn = 16;  // so that one fast peer does not hold the loop

// Bytes between the socket and the decoder.  What is left of them is copied before anybody else can use it.
std::span<char> scratch() noexcept {
  static thread_local char bytes[64 * 1024];
  return bytes;
}

}  // namespace

// ---- what the loop tells ----

void websocket_state::on_bytes() noexcept {
  const visit here(*this);
  listening_ = false;
  advance();
  settle();
}

void websocket_state::on_drained() noexcept {
  const visit here(*this);
  if (pong_owed_ && !close_sent_) queue(opcode::pong, {pong_.data(), pong_size_});
  pong_owed_ = false;
  if (sending_) sending_.complete(base::ok);
}

void websocket_state::on_lost(base::status why) noexcept {
  const visit here(*this);
  if (why == base::timeout && fault_ == base::ok && !close_sent_) fault_ = base::timeout;
  end();
  settle();
}

void websocket_state::on_resume() {
  const visit here(*this);
  if (receiving_ && receiving_.cancelled) receiving_.complete(base::cancelled);
  if (sending_ && sending_.cancelled) sending_.complete(base::cancelled);
  advance();
  settle();
}

void websocket_state::on_timer() {
  const visit here(*this);
  if (!stream_) return;
  if (close_sent_) {  // the other end had its time
    end();
    return settle();
  }
  // While nobody reads, silence says nothing about the other end.
  if (!listening_) heard_ = home_.now(), pings_ = 0;
  const auto due = heard_ + ping_ * static_cast<int>(pings_ + 1);
  if (home_.now() < due) return timer_.start_at(due);
  if (pings_ == pings_before_timeout) {
    fault_ = base::timeout;
    end();
    return settle();
  }
  ++pings_;
  queue(opcode::ping, {});
  timer_.start_at(heard_ + ping_ * static_cast<int>(pings_ + 1));
}

// ---- bytes in ----

// Decodes until a whole message is ahead, nothing more is here, or the connection has ended.
void websocket_state::advance() {
  while (stream_ && !ahead_) {
    if (input_at_ < input_.size()) {
      std::string_view input(input_.data() + input_at_, input_.size() - input_at_);
      decode(input);
      input_at_ = input_.size() - input.size();
      continue;
    }
    if (listening_) return;
    if (const std::uint64_t now = home_.turns(); now != turn_) turn_ = now, reads_ = 0;
    if (reads_++ == reads_per_turn) return later();
    const std::span<char> buffer = scratch();
    std::size_t got = 0;
    const base::status s = stream_->receive(buffer.data(), buffer.size(), &got);
    if (s < 0) return end();
    listening_ = s == base::ok;
    if (listening_) return;
    heard_ = home_.now();
    pings_ = 0;
    std::string_view input(buffer.data(), got);
    decode(input);
    input_.assign(input.begin(), input.end());
    input_at_ = 0;
  }
}

// A message this process has no memory for is one over its limit.
void websocket_state::decode(std::string_view& input) try {
  while (stream_) {
    if (deaf_) return input.remove_prefix(input.size());
    switch (decoder_.feed(input)) {
      case websocket_decoder::event::more:
        return;
      case websocket_decoder::event::message:
        ahead_ = true;
        return;
      case websocket_decoder::event::ping:
        queue_pong(decoder_.payload());
        break;
      case websocket_decoder::event::pong:
        break;
      case websocket_decoder::event::close:
        on_close_frame();
        break;
      case websocket_decoder::event::broken:
        break_off(decoder_.fault(), decoder_.fault_text());
        break;
    }
  }
} catch (const std::bad_alloc&) {
  break_off(1009, "no memory for the message");
  input.remove_prefix(input.size());
}

void websocket_state::on_close_frame() {
  close_got_ = deaf_ = true;
  close_code_ = decoder_.close_code();
  if (!close_sent_) begin_close(close_code_ == no_code ? 0 : close_code_, {});
  // The accepting side ends the connection first, so that the port in waiting is the client's.
  if (role_ == websocket_role::server) stream_->shut();
}

void websocket_state::break_off(int code, std::string_view why) {
  deaf_ = true;
  fault_ = code == 1009 ? base::limit : base::protocol;
  if (base::logs(base::level::debug)) base::log(base::level::debug, "websocket", why);
  if (!close_sent_) begin_close(code, why);
  stream_->shut();
}

// ---- completions ----

void websocket_state::deliver() {
  decoder_.take(current_);
  ahead_ = false;
  *out_ = {decoder_.text(), 0, {current_.data(), current_.size()}};
}

base::status websocket_state::ended() {
  if (fault_ != base::ok && !shut_down_) return fault_;
  if (stream_) return base::ok;
  out_->close_code = close_code_;
  return base::closed;
}

base::status websocket_state::cannot_send() const noexcept {
  if (fault_ != base::ok && !shut_down_) return fault_;
  return !stream_ || close_sent_ ? base::closed : base::ok;
}

void websocket_state::settle() {
  if (receiving_) {
    if (ahead_) {
      deliver();
      receiving_.complete(base::ok);
    } else if (const base::status s = ended(); s != base::ok) {
      receiving_.complete(s);
    }
  }
  // A send that was waiting when this side began to close is still on its way out.
  if (sending_ && (!stream_ || close_got_ || fault_ != base::ok))
    sending_.complete(fault_ != base::ok ? fault_ : base::closed);
}

// ---- bytes out ----

void websocket_state::queue(opcode code, std::string_view payload) {
  if (role_ == websocket_role::server) {
    stream_->send(frame_head(code, true, payload.size(), nullptr).bytes());
    if (!payload.empty()) stream_->send(payload);
    return;
  }
  const mask_key key = keys_.next();
  char piece[16 * 1024];
  const frame_head head(code, true, payload.size(), &key);
  std::memcpy(piece, head.data, head.size);
  std::size_t filled = head.size;
  for (std::size_t at = 0; at < payload.size() || filled; filled = 0) {
    const std::size_t size = std::min(sizeof piece - filled, payload.size() - at);
    if (size) std::memcpy(piece + filled, payload.data() + at, size);
    apply_mask(piece + filled, size, key, at);
    stream_->send({piece, filled + size});
    at += size;
  }
}

// A peer that sends pings and takes no pongs must not fill the queue: it gets the last one when it reads again.
void websocket_state::queue_pong(std::string_view payload) {
  if (close_sent_) return;
  if (stream_->queued() < high_water_) return queue(opcode::pong, payload);
  std::copy(payload.begin(), payload.end(), pong_.begin());
  pong_size_ = payload.size();
  pong_owed_ = true;
}

// code 0: a close frame without one.
void websocket_state::begin_close(int code, std::string_view reason) {
  char payload[2 + max_close_reason];
  std::size_t size = 0;
  if (code) {
    payload[0] = static_cast<char>(code >> 8 & 0xff);
    payload[1] = static_cast<char>(code & 0xff);
    std::copy(reason.begin(), reason.end(), payload + 2);
    size = 2 + reason.size();
  }
  queue(opcode::close, {payload, size});
  close_sent_ = true;
  timer_.start(close_wait_);
}

void websocket_state::end() {
  timer_.cancel();
  stream_.reset();
}

}  // namespace portico::http
