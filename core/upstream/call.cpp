#include "core/upstream/call.hpp"

#include <algorithm>
#include <array>

#include "core/http/writer.hpp"

namespace portico::upstream {
namespace {

constexpr unsigned moves_per_turn = 16;              // so that one fast server does not hold the loop
constexpr std::size_t small_read = 16 * 1024 - 512;  // a pooled block of http::buffer
constexpr std::size_t large_read = 64 * 1024;

std::chrono::milliseconds either(std::chrono::milliseconds wished, std::chrono::milliseconds usual) {
  return wished.count() > 0 ? wished : usual;
}

bool is_safe(std::string_view method) noexcept {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

}  // namespace

call_impl::call_impl(std::shared_ptr<client_state> client, const settings& s, const call_options& o)
    : client_(std::move(client)),
      connect_(either(o.connect, s.connect_timeout)),
      response_(either(o.idle, s.response_timeout)),
      idle_(either(o.idle, s.idle_timeout)),
      promised_(o.content_length),
      safe_(is_safe(o.method)),
      head_request_(o.method == "HEAD"),
      request_(client_->buffers),
      timer_(
          client_->loop, [](void* self) { static_cast<call_impl*>(self)->on_timer(); }, this),
      resume_(
          client_->loop, [](void* self) { static_cast<call_impl*>(self)->on_resume(); }, this),
      total_at_(o.total.count() > 0 ? client_->loop.now() + o.total : loop::clock::time_point::max()),
      asked_at_(client_->loop.now()),
      progress_at_(asked_at_),
      body_done_(o.content_length == 0) {
  client_->calls.add();
}

call_impl::~call_impl() {
  if (fault_ != base::ok) client_->failures.add();
  release_connection();
  connector_.reset();
  if (origin_) --origin_->users;
}

// ---- the request's body ----

base::status call_impl::write(std::string_view bytes, base::completion done, void* user) {
  if (writing_ || (pipe_.waits && pipe_.up)) return base::state;
  if (stopped_) return base::cancelled;
  if (fault_ != base::ok) return fault_;
  if (const base::status s = put(bytes); s != base::ok) return s;
  if (queued() < high_water) return base::ready;
  writing_ = {done, user};
  arm();
  return base::ok;
}

base::status call_impl::put(std::string_view bytes) {
  if (sink_gone()) return base::closed;
  if (body_done_) return bytes.empty() ? base::ok : promised_ >= 0 ? base::argument : base::state;
  if (bytes.empty()) return base::ok;
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (promised_ >= 0 && size > promised_ - written_) return base::argument;
  const http::chunk_prefix prefix(bytes.size());
  const std::array<std::string_view, 3> pieces{prefix.view(), bytes, "\r\n"};
  const auto parts = promised_ < 0 ? std::span(pieces) : std::span(pieces).subspan(1, 1);
  for (const std::string_view part : parts)
    connection_ ? void(connection_->stream().send(part)) : request_.append(part);
  written_ += size;
  if (written_ == promised_) complete_body();
  return base::ok;
}

void call_impl::complete_body() {
  body_done_ = true;
  asked_at_ = client_->loop.now();
  arm();
}

base::status call_impl::end() {
  if (stopped_ && fault_ == base::ok && !body_done_) return base::cancelled;
  if (fault_ != base::ok) return fault_;
  if (pipe_.waits && pipe_.up) return base::state;
  if (body_done_) return promised_ >= 0 ? base::ok : base::state;
  if (promised_ >= 0) return base::state;
  if (sink_gone()) return base::closed;
  put_end();
  return base::ok;
}

void call_impl::put_end() {
  connection_ ? void(connection_->stream().send(http::last_chunk)) : request_.append(http::last_chunk);
  complete_body();
}

std::size_t call_impl::queued() noexcept { return connection_ ? connection_->stream().queued() : request_.size(); }

bool call_impl::sink_gone() noexcept { return early_ || (connection_ && connection_->stream().send_lost()); }

// ---- the answer ----

base::status call_impl::head(const answer_head** out, base::completion done, void* user) {
  if (head_taken_) return base::state;
  if (stopped_) return base::cancelled;
  if (fault_ != base::ok) return fault_;
  head_taken_ = true;
  if (head_done_) return *out = &answer_, base::ready;
  head_out_ = out;
  heading_ = {done, user};
  arm();
  return base::ok;
}

base::status call_impl::read(std::size_t max, std::string_view* chunk, base::completion done, void* user) {
  if (!head_taken_ || heading_ || reading_ || (pipe_.waits && !pipe_.up)) return base::state;
  if (stopped_) return base::cancelled;
  if (fault_ != base::ok) return fault_;
  *chunk = {};
  const base::status s = next_piece(max, chunk);
  if (s != base::ok) return s;
  read_out_ = chunk;
  read_max_ = max;
  reading_ = {done, user};
  progress_at_ = client_->loop.now();
  arm();
  return base::ok;
}

// ready: *piece is the next one, empty at the end.  ok: nothing now; on_bytes or on_resume comes back to it.
base::status call_impl::next_piece(std::size_t max, std::string_view* piece) {
  connection& c = *connection_;
  if (max == 0) max = large_read;
  while (true) {
    const bool in_head = body_at_ < c.head.size();
    std::span<char> input = in_head ? std::span(c.head.data() + body_at_, c.head.size() - body_at_)
                                    : std::span(c.body.data(), c.body.size());
    const std::size_t before = input.size();
    *piece = c.decoder.next(input, max);
    in_head ? void(body_at_ += before - input.size()) : c.body.consume(before - input.size());
    if (!piece->empty() || c.decoder.complete()) return base::ready;
    if (c.decoder.refused()) {
      client_->misunderstood(*origin_, talk::call, c.decoder.why().message);
      break_off(base::protocol);
      return fault_;
    }
    // What is left of a chunk's frame at the end of the head's bytes is taken; more comes into the body's.
    const base::status s = fill();
    if (s == base::ready) continue;
    if (s == base::ok) return base::ok;
    if (c.decoder.end_of_input()) return base::ready;
    break_off(base::closed);
    return fault_;
  }
}

// Reads once more into the body's buffer.
base::status call_impl::fill() {
  connection& c = *connection_;
  if (const std::uint64_t now = client_->loop.turns(); now != turn_) turn_ = now, moves_ = 0;
  if (moves_++ >= moves_per_turn) return later(), base::ok;
  const std::size_t wanted = c.decoder.wants();
  // Large where much is announced, or the last one was filled.
  const bool announced = wanted > small_read && wanted != SIZE_MAX;
  const std::span<char> room = c.body.room(announced || filled_ ? large_read : small_read);
  std::size_t got = 0;
  const base::status s = c.stream().receive(room.data(), std::min(room.size(), wanted), &got);
  if (s == base::ready) {
    c.body.added(got);
    filled_ = got == room.size();
    progress_at_ = client_->loop.now();
  }
  return s;
}

// ---- the end ----

base::status call_impl::cancel() {
  if (!busy()) return base::ok;
  cancelled_ = true;
  later();
  return base::ok;
}

void call_impl::stop() {
  stopped_ = true;
  cancel();
}

// The call has failed; who waits is told by settle.
void call_impl::break_off(base::status why) {
  if (fault_ != base::ok) return;
  fault_ = why;
  timer_.cancel();
  connector_.reset();
  // A head that was handed out lives in the connection, until the call is given back.
  if (connection_) connection_->drop_stream();
}

void call_impl::release_connection() {
  if (!connection_) return;
  connection& c = *connection_;
  if (fault_ == base::ok && head_done_ && !c.decoder.complete()) {
    // A short rest that is here already costs less than another connection.
    std::string_view piece;
    std::span<char> rest(c.head.data() + body_at_, c.head.size() - body_at_);
    do piece = c.decoder.next(rest, rest.size() + 1);
    while (!piece.empty());
    body_at_ = c.head.size() - rest.size();
  }
  const bool reusable = fault_ == base::ok && head_done_ && body_done_ && c.decoder.complete() &&
                        c.parser.keep_alive() && body_at_ == c.head.size() && c.body.empty() &&
                        c.stream().queued() == 0 && !c.stream().send_lost();
  if (reusable) client_->keep_idle(std::move(connection_));
  connection_.reset();
}

}  // namespace portico::upstream
