#include "core/http/connection.hpp"

#include <algorithm>

#include "core/http/upgraded_stream.hpp"
#include "core/http/writer.hpp"

namespace portico::http {

using namespace std::chrono_literals;

connection::connection(shard& s, net::descriptor socket, const net::endpoint& peer)
    : shard_(s),
      transport_(s, socket, *this),
      in_(s.buffers),
      parser_(s.bounds),
      body_(s.bounds, in_, s.buffers),
      exchange_(*this),
      timer_(s.home, on_timer, this),
      peer_(peer) {
  expect_by(phase_by_, s.bounds.keep_alive);
}

connection::~connection() {
  shard_.home.forget_turn_end(*this);
  if (stream_) stream_->orphan();
}

void connection::on_ready(unsigned readiness) noexcept {
  if (readiness & loop::hangup) return lose(base::closed);
  if (readiness & loop::writable) {
    transport_.on_writable();
    wake();
  }
  if (readiness & loop::finished) {
    transport_.pause_reading(false);
    if (phase_ == phase::held) exchange_.end(base::closed);
  }
  if (readiness & loop::readable) on_readable();
}

// ---- input

void connection::on_readable() noexcept {
  switch (phase_) {
    case phase::idle:
    case phase::head:
      return receive_head();
    case phase::held:
      if (exchange_.read_.done && !exchange_.read_.settled) return receive_body();
      [[fallthrough]];
    case phase::answered:
      if (body_.complete()) return receive_ahead();
      return transport_.pause_reading(false);
    case phase::lingering:
      return linger();
    case phase::upgraded:
      return stream_->on_readable();
    case phase::refused:
    case phase::gone:
      return transport_.pause_reading(false);
  }
}

void connection::receive_head() {
  const net::io got = transport_.receive(in_.room(1));
  switch (got.what) {
    case net::outcome::done:
      in_.added(got.bytes);
      return next_request();
    case net::outcome::would_block:
      if (in_.empty()) in_.release();
      return;
    case net::outcome::end:
    case net::outcome::lost:
      return lose(base::closed);
  }
}

void connection::receive_body() {
  const net::io got = transport_.receive(body_.room(exchange_.read_max_));
  switch (got.what) {
    case net::outcome::done:
      body_.added(got.bytes);
      expect_by(body_by_, shard_.bounds.body_timeout);
      return exchange_.on_body();
    case net::outcome::would_block:
      return;
    case net::outcome::end:
      return on_end_of_input();
    case net::outcome::lost:
      return lose(base::closed);
  }
}

// While an answer is made: notices that the client goes, and takes in what it sends ahead as far as there is room.
void connection::receive_ahead() {
  const std::span<char> room = in_.spare();
  if (room.empty() || body_.holds_more()) return transport_.pause_reading(true);
  const net::io got = transport_.receive(room);
  switch (got.what) {
    case net::outcome::done:
      return in_.added(got.bytes);
    case net::outcome::would_block:
      return;
    case net::outcome::end:
      return on_end_of_input();
    case net::outcome::lost:
      return lose(base::closed);
  }
}

void connection::on_end_of_input() noexcept {
  input_ended_ = true;
  transport_.pause_reading(false);
  if (phase_ == phase::held) exchange_.end(base::closed);
}

void connection::linger() noexcept {
  const net::io got = transport_.discard();
  if (got.what == net::outcome::done) return expect_by(body_by_, 2s);
  if (got.what != net::outcome::would_block) lose(base::closed);
}

void connection::next_request() {
  switch (parser_.parse(in_.data(), in_.size())) {
    case parsed::complete:
      return begin_exchange();
    case parsed::refused:
      return refuse(parser_.why());
    case parsed::more:
      if (input_ended_) return lose(base::closed);
      if (phase_ != phase::head) expect_by(phase_by_, shard_.bounds.head_timeout);
      phase_ = phase::head;
      transport_.resume_reading();
  }
}

void connection::begin_exchange() {
  const request_head& head = parser_.head();
  phase_ = phase::held;
  phase_by_ = time::max();
  body_.start(parser_.body(), head.content_length, parser_.size());
  shard_.requests.add(1);
  exchange_.open(head, shard_.home.now(), shard_.bounds.max_body);
  if (shard_.bounds.request_timeout > 0ms) expect_by(exchange_.deadline_, shard_.bounds.request_timeout);
  shard_.answers.on_exchange(exchange_);
}

// ---- the end of a turn

void connection::on_turn_end() noexcept {
  constexpr int most = 32;  // requests sent ahead by one client; then the others have their turn
  for (int rounds = 0; step();) {
    if (++rounds < most) continue;
    wake();
    break;
  }
  if (phase_ == phase::gone) shard_.remove(*this);
}

bool connection::step() {
  if (phase_ == phase::held) exchange_.deliver();
  if (stream_) stream_->deliver();
  flush();
  const bool all_sent = transport_.all_sent();
  switch (phase_) {
    case phase::held:
      return exchange_.settled();
    case phase::answered:
      return all_sent && end_exchange();
    case phase::refused:
      if (all_sent) end_connection(true);
      return false;
    case phase::upgraded:
      if (all_sent && !told_finished_) {
        told_finished_ = true;
        shard_.answers.on_finished(exchange_, 101, 0, exchange_.age());
      }
      if (stream_) return false;
      transport_.close();
      phase_ = phase::gone;
      return false;
    default:
      return false;
  }
}

void connection::flush() noexcept {
  if (!transport_.open()) return;
  transport_.flush();
  if (transport_.failed()) return lose(base::closed);
  if (transport_.all_sent())
    write_by_ = time::max();
  else if (write_by_ == time::max() || transport_.sent() != sent_before_)
    expect_by(write_by_, shard_.bounds.write_timeout);
  sent_before_ = transport_.sent();
  exchange_.on_sent();
  if (stream_) stream_->on_sent();
}

bool connection::end_exchange() {
  if (exchange_.status_ >= 500)
    shard_.responses_5xx.add(1);
  else if (exchange_.status_ >= 400)
    shard_.responses_4xx.add(1);
  shard_.answers.on_finished(exchange_, exchange_.status_, exchange_.bodyless_ ? 0 : exchange_.written_,
                             exchange_.age());
  exchange_.deadline_ = body_by_ = time::max();
  if (!transport_.open()) {
    phase_ = phase::gone;
    return false;
  }
  const bool whole = body_.finish();
  parser_.reset();
  if (close_after_ || !whole || (in_.empty() && (input_ended_ || shard_.draining()))) {
    end_connection(!whole || !in_.empty());
    return false;
  }
  phase_ = phase::idle;
  expect_by(phase_by_, shard_.bounds.keep_alive);
  if (in_.empty()) {
    in_.release();
    transport_.resume_reading();
    return false;
  }
  next_request();
  return phase_ == phase::answered || phase_ == phase::refused || exchange_.settled();
}

// unread: the client may still be sending; a plain close would then destroy the answer on its way.
void connection::end_connection(bool unread) noexcept {
  in_.release();
  if (!unread || input_ended_) {
    transport_.close();
    phase_ = phase::gone;
    return wake();
  }
  phase_ = phase::lingering;
  transport_.shut_write();
  transport_.resume_reading();
  expect_by(phase_by_, 10s);
  expect_by(body_by_, 2s);
}

void connection::refuse(const refusal& why) {
  (why.status >= 500 ? shard_.responses_5xx : shard_.responses_4xx).add(1);
  const std::string body = error_envelope(error_code(why.status), why.message);
  const field type{"Content-Type", envelope_type};
  response_head head;
  head.status = why.status;
  head.date = shard_.date.at(shard_.home.now());
  head.headers = {&type, 1};
  head.content_length = static_cast<std::int64_t>(body.size());
  head.connection = "close";
  append_head(transport_.out(), head);
  transport_.out().append(body);
  phase_by_ = time::max();
  wake();
  if (phase_ == phase::held) return;
  phase_ = phase::refused;
  shard_.answers.on_refused({shard_.home, peer_.address(), why.status, body.size()});
}

void connection::refuse_body(const refusal& why) {
  if (exchange_.begun_) return lose(base::closed);
  refuse(why);
  exchange_.status_ = why.status;
  refused_body_ = true;
  close_after_ = true;
  exchange_.lost();
}

void connection::give_back() noexcept {
  phase_ = phase::answered;
  exchange_.close_ = exchange_.gone_ = {};
  exchange_.deadline_ = body_by_ = time::max();
  wake();
}

void connection::reset_now() noexcept {
  if (!refused_body_) transport_.reset();
  write_by_ = time::max();
  give_back();
}

void connection::drain() noexcept {
  constexpr auto rest_of_head = 500ms;  // what is on its way arrives in less
  if (phase_ == phase::idle) return lose(base::closed);
  if (phase_ == phase::head && phase_by_ > shard_.home.now() + rest_of_head) expect_by(phase_by_, rest_of_head);
}

void connection::lose(base::status why) noexcept {
  if (!transport_.open()) return;
  transport_.close();
  phase_by_ = body_by_ = write_by_ = time::max();
  switch (phase_) {
    case phase::held:
      exchange_.lost();
      break;
    case phase::answered:
      break;
    case phase::upgraded:
      if (stream_) stream_->on_lost(why);
      break;
    default:
      phase_ = phase::gone;
  }
  wake();
}

// ---- deadlines

void connection::expect_by(time& which, std::chrono::milliseconds from_now) {
  which = shard_.home.now() + from_now;
  look_by(which);
}

void connection::look_by(time when) {
  if (timer_.pending() && looks_at_ <= when) return;
  looks_at_ = when;
  timer_.start_at(when);
}

void connection::on_timer(void* self) noexcept { static_cast<connection*>(self)->check_deadlines(); }

void connection::check_deadlines() {
  const time now = shard_.home.now();
  if (write_by_ <= now) {
    // The system says `writable` only once a good part of its buffer is free: a slow peer may have taken bytes before.
    const std::uint64_t before = transport_.sent();
    transport_.on_writable();
    flush();
    if (transport_.sent() == before) return lose(base::timeout);
  }
  if (body_by_ <= now) {
    body_by_ = time::max();
    if (phase_ == phase::lingering) return lose(base::closed);
    if (phase_ == phase::held) exchange_.settle(exchange_.read_, base::timeout);
  }
  if (phase_by_ <= now) {
    phase_by_ = time::max();
    if (phase_ != phase::head) return lose(base::closed);
    refuse({408, "the head of the request did not arrive in time"});
  }
  if (exchange_.deadline_ <= now) {
    exchange_.deadline_ = time::max();
    if (phase_ == phase::held) exchange_.end(base::timeout);
  }
  const time earliest = std::min({write_by_, body_by_, phase_by_, exchange_.deadline_});
  if (earliest != time::max()) look_by(earliest);
}

}  // namespace portico::http
