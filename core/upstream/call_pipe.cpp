// Bodies passed on between an exchange and a call, without a copy of their own and without a wait for whoever asked.
#include "core/http/exchange.hpp"
#include "core/upstream/call.hpp"

namespace portico::upstream {
namespace {

constexpr unsigned chunks_per_turn = 16;

}  // namespace

base::status call_impl::pipe_request(http::exchange& from, pipe_result* out, base::completion done, void* user) {
  if (writing_ || pipe_.waits || from.busy()) return base::state;
  return begin_pipe(from, true, out, done, user);
}

base::status call_impl::pipe_response(http::exchange& to, pipe_result* out, base::completion done, void* user) {
  if (!head_taken_ || heading_ || reading_ || pipe_.waits || to.busy() || !to.begun()) return base::state;
  return begin_pipe(to, false, out, done, user);
}

base::status call_impl::begin_pipe(http::exchange& x, bool up, pipe_result* out, base::completion done, void* user) {
  if (stopped_) return base::cancelled;
  if (fault_ != base::ok) return fault_;
  *out = {};
  pipe_ = pipe();
  pipe_.waits = {done, user};
  pipe_.exchange = &x;
  pipe_.result = out;
  pipe_.up = up;
  progress_at_ = client_->loop.now();
  pump();
  if (!pipe_.ending) {
    // A server that is silent for long must not keep a client's place after the client has gone.
    if (!up) x.on_gone(&on_gone, this);
    return arm(), base::ok;
  }
  pipe_.waits = waiting();
  const base::status s = out->source != base::ok ? out->source : out->sink;
  return s == base::ok ? base::ready : s;
}

// Moves what can be moved now.
void call_impl::pump() {
  for (unsigned moved = 0; !pipe_.exchange_waits && !pipe_.ending; ++moved) {
    if (moved == chunks_per_turn) return later();
    if (!(pipe_.up ? pump_up() : pump_down())) return;
  }
}

// Whether to go on.
bool call_impl::pump_up() {
  if (queued() >= high_water) return false;  // on_drained comes back here
  const base::status s = pipe_.exchange->read(0, &pipe_.chunk, &on_exchange, this);
  if (s == base::ready) return take_chunk();
  s == base::ok ? void(pipe_.exchange_waits = true) : end_pipe(s, base::ok);
  return false;
}

// A piece of the request's body has come, or its end.
bool call_impl::take_chunk() {
  if (pipe_.chunk.empty()) {
    base::status s = base::ok;
    // A promise that the body does not keep leaves the server waiting: the mistake of whoever promised.
    if (!body_done_) s = promised_ < 0 ? (put_end(), base::ok) : base::argument;
    end_pipe(base::ok, s);
    return false;
  }
  if (const base::status s = put(pipe_.chunk); s != base::ok) return end_pipe(base::ok, s), false;
  pipe_.result->bytes += static_cast<std::int64_t>(pipe_.chunk.size());
  return true;
}

bool call_impl::pump_down() {
  std::string_view piece;
  const base::status got = next_piece(0, &piece);
  if (got == base::ok) return false;  // on_bytes comes back here
  if (got < 0 || piece.empty()) return end_pipe(got < 0 ? got : base::ok, base::ok), false;
  const base::status put = pipe_.exchange->write(piece, &on_exchange, this);
  if (put < 0) return end_pipe(base::ok, put), false;
  pipe_.result->bytes += static_cast<std::int64_t>(piece.size());
  pipe_.exchange_waits = put == base::ok;
  return put == base::ready;
}

// The exchange's read or write is over.
void call_impl::on_exchange(void* self, base::status s) noexcept {
  call_impl& c = *static_cast<call_impl*>(self);
  pipe& p = c.pipe_;
  p.exchange_waits = false;
  c.progress_at_ = c.client_->loop.now();
  if (!p.ending) {
    if (s < 0)
      p.up ? c.end_pipe(s, base::ok) : c.end_pipe(base::ok, s);
    else if (p.up && c.fault_ == base::ok)
      c.take_chunk();
  }
  c.settle();
}

void call_impl::on_gone(void* self, base::status s) noexcept {
  call_impl& c = *static_cast<call_impl*>(self);
  if (!c.pipe_.waits) return;
  c.end_pipe(base::ok, s);
  c.settle();
}

void call_impl::end_pipe(base::status source, base::status sink) {
  if (pipe_.ending) return;
  pipe_.ending = true;
  pipe_.result->source = source;
  pipe_.result->sink = sink;
}

void call_impl::settle_pipe() {
  const bool cancelled = fault_ == base::cancelled;
  if (fault_ != base::ok) {
    const base::status other = cancelled ? base::cancelled : base::ok;
    pipe_.up ? end_pipe(other, fault_) : end_pipe(fault_, other);
  } else if (pipe_.up && sink_gone()) {
    end_pipe(base::ok, base::closed);
  } else if (!pipe_.ending) {
    pump();
  }
  if (!pipe_.ending) return arm();
  // Its done must have come before the pipe's does: the exchange may be given back after that.
  if (pipe_.exchange_waits) return void(pipe_.exchange->cancel());
  if (!pipe_.up) pipe_.exchange->on_gone(nullptr, nullptr);
  const base::status s = pipe_.result->source != base::ok ? pipe_.result->source : pipe_.result->sink;
  pipe_.waits.complete(s);
}

}  // namespace portico::upstream
