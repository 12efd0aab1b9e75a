// What the connection and the clock tell a call.
#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/upstream/call.hpp"

namespace portico::upstream {
namespace {

constexpr std::size_t head_room = 4096;

// Headers that speak of the connection or of the framing, which the answer's reader does not see.
bool is_hop(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> hop{"connection", "content-length",    "keep-alive", "proxy-connection",
                                                "te",         "transfer-encoding", "trailer",    "upgrade"};
  return std::find(hop.begin(), hop.end(), name) != hop.end();
}

// Whether a Connection header names it, which makes it one of those.
bool is_named(std::span<const http::field> headers, std::string_view name) noexcept {
  for (const http::field& f : headers) {
    if (f.name != "connection") continue;
    std::string_view rest = f.value;
    while (!rest.empty())
      if (base::equal_ignoring_case(base::trim(base::cut(rest, ',')), name)) return true;
  }
  return false;
}

}  // namespace

// ---- connecting ----

void call_impl::start(origin& at, std::string_view host, std::uint16_t port) {
  origin_ = &at;
  ++at.users;
  // A call that cannot be repeated takes no chances with a connection that has just ended.
  if (std::unique_ptr<connection> kept = client_->take_idle(at, !safe_ || promised_ != 0)) {
    if (safe_ && promised_ == 0) host_ = host, port_ = port;
    attach(std::move(kept));
  } else {
    host_ = host;
    port_ = port;
    dial();
  }
  arm();
}

void call_impl::dial() {
  connector_ =
      std::make_unique<connector>(*client_, static_cast<connector::observer&>(*this), std::chrono::milliseconds(0));
  connector_->start(*origin_, host_, port_, client_->loop.now() + connect_);
}

void call_impl::on_unreachable() noexcept {
  break_off(base::unreachable);
  settle();
}

void call_impl::on_connected(std::unique_ptr<socket_stream> stream) noexcept {
  attach(std::make_unique<connection>(*client_, *origin_, std::move(stream)));
  connector_.reset();
  arm();
  settle();
}

void call_impl::attach(std::unique_ptr<connection> c) {
  connection_ = std::move(c);
  connection_->begin_use(*this);
  if (head_request_) connection_->parser.expect("HEAD");
  connection_->stream().send(request_.view());
  // Only a call that may be repeated needs its head again.
  if (!safe_ || promised_ != 0 || retried_ || !connection_->used) request_.release();
  asked_at_ = client_->loop.now();
}

// ---- bytes ----

void call_impl::on_bytes() noexcept {
  if (fault_ != base::ok) return;
  if (!head_done_) receive_head();
  settle();
}

void call_impl::receive_head() {
  connection& c = *connection_;
  const std::span<char> room = c.head.room(head_room);
  std::size_t got = 0;
  const base::status s = c.stream().receive(room.data(), room.size(), &got);
  if (s == base::ok) return;
  if (s != base::ready) return head_ended();
  answered_ = true;
  c.head.added(got);
  switch (c.parser.parse(c.head.data(), c.head.size())) {
    case http::parsed::more:
      return c.stream().listen();
    case http::parsed::complete:
      return take_head();
    case http::parsed::refused:
      client_->misunderstood(*origin_, talk::call, c.parser.why().message);
      return break_off(base::protocol);
  }
}

// The connection ended before the head was complete.
void call_impl::head_ended() {
  const bool again = connection_->used && !answered_ && !retried_ && safe_ && promised_ == 0;
  if (!again) return break_off(base::closed);
  retried_ = true;
  connection_.reset();
  dial();
}

void call_impl::take_head() {
  connection& c = *connection_;
  if (c.parser.status() == 101) {
    client_->misunderstood(*origin_, talk::call, "it switched protocols, which was not asked for");
    return break_off(base::protocol);
  }
  client_->understood(*origin_, talk::call);
  head_done_ = true;
  early_ = !body_done_;
  body_at_ = c.parser.size();
  c.decoder.start(c.parser.body(), c.parser.content_length());
  c.fields.clear();
  const std::span<const http::field> all = c.parser.headers();
  for (const http::field& f : all)
    if (!is_hop(f.name) && !is_named(all, f.name)) c.fields.push_back(f);
  answer_ = {c.parser.status(), c.fields, c.parser.content_length()};
  if (c.parser.body() == http::framing::none && !head_request_ && answer_.status != 304) answer_.content_length = 0;
}

// All that was queued is with the system: who writes goes on, and the server's time to answer begins.
void call_impl::on_drained() noexcept { settle(); }

void call_impl::on_lost(base::status why) noexcept {
  break_off(why);
  settle();
}

void call_impl::on_resume() {
  if (std::exchange(cancelled_, false) && busy()) break_off(base::cancelled);
  settle();
}

// ---- time ----

void call_impl::on_timer() {
  const auto due = next_deadline();
  if (!due) return;
  if (client_->loop.now() < *due) return arm();
  break_off(base::timeout);
  settle();
}

// One timer for all: it is moved only when something is due earlier, and looks again when it fires.
void call_impl::arm() {
  if (fault_ != base::ok) return;
  const auto due = next_deadline();
  if (!due || (timer_.pending() && armed_ <= *due)) return;
  armed_ = *due;
  timer_.start_at(*due);
}

// The connector has its own clock, which gives unreachable.
std::optional<loop::clock::time_point> call_impl::next_deadline() noexcept {
  auto due = total_at_;
  if (connection_ && !head_done_) {
    const socket_stream& stream = connection_->stream();
    if (stream.queued() > 0)
      due = std::min(due, stream.last_sent() + idle_);
    else if (body_done_)
      due = std::min(due, std::max(asked_at_, stream.last_sent()) + response_);
  } else if (head_done_ && (reading_ || (pipe_.waits && !pipe_.up && !pipe_.exchange_waits))) {
    due = std::min(due, progress_at_ + idle_);
  }
  if (due == loop::clock::time_point::max()) return std::nullopt;
  return due;
}

// ---- who waits ----

void call_impl::settle() {
  if (heading_ && (fault_ != base::ok || head_done_)) {
    if (writing_ || pipe_.waits) later();
    if (fault_ == base::ok) *head_out_ = &answer_;
    return heading_.complete(fault_);
  }
  if (writing_ && (fault_ != base::ok || sink_gone() || queued() < high_water)) {
    if (reading_ || pipe_.waits) later();
    return writing_.complete(fault_ != base::ok ? fault_ : sink_gone() ? base::closed : base::ok);
  }
  if (reading_) return settle_read();
  if (pipe_.waits) return settle_pipe();
  arm();
}

void call_impl::settle_read() {
  base::status s = fault_;
  if (s == base::ok) s = next_piece(read_max_, read_out_);
  if (s == base::ok) return arm();
  reading_.complete(s == base::ready ? base::ok : s);
}

}  // namespace portico::upstream
