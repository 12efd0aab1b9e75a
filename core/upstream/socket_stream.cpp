#include "core/upstream/socket_stream.hpp"

#include <system_error>

#include "core/http/socket.hpp"
#include "core/upstream/dial.hpp"

namespace portico::upstream {

namespace net = http::net;

socket_stream::socket_stream(loop::event_loop& l, http::buffer_pool& pool, stream_list& all, loop::descriptor socket,
                             std::chrono::milliseconds stall)
    : loop_(l),
      list_(all),
      socket_(socket),
      stall_(stall),
      out_(pool),
      stall_timer_(
          l, [](void* self) { static_cast<socket_stream*>(self)->on_stall(); }, this),
      last_sent_(l.now()) {
  try {
    loop_.sockets().add(socket_, loop::readable, this);
  } catch (...) {
    net::close(socket_);
    throw;
  }
  polled_ = true;
  interest_ = loop::readable;
  after_ = list_.first;
  if (after_) after_->before_ = this;
  list_.first = this;
  ++list_.size;
}

socket_stream::~socket_stream() {
  loop_.forget_turn_end(*this);
  leave_poller();
  if (!out_.empty() && !send_lost_) {
    const std::string_view rest = out_.view();
    net::send(socket_, {&rest, 1});
  }
  net::close(socket_);
  (before_ ? before_->after_ : list_.first) = after_;
  if (after_) after_->before_ = before_;
  --list_.size;
}

void socket_stream::observe(observer& o, std::size_t low_water) noexcept {
  observer_ = &o;
  low_water_ = low_water;
  above_ = out_.size() > low_water_;
}

// ---- in ----

base::status socket_stream::receive(char* to, std::size_t size, std::size_t* got) noexcept {
  *got = 0;
  if (ended_) return base::closed;
  const net::io r = net::receive(socket_, to, size);
  switch (r.what) {
    case net::outcome::done:
      *got = r.bytes;
      return base::ready;
    case net::outcome::would_block:
      break;
    case net::outcome::end:
    case net::outcome::lost:
      ended_ = true;
      return base::closed;
  }
  try {
    listen();
  } catch (const std::system_error&) {
    ended_ = true;
    return base::closed;
  }
  return base::ok;
}

void socket_stream::listen() {
  listening_ = true;
  want(interest_ | loop::readable);
}

bool socket_stream::is_quiet() const noexcept { return upstream::is_quiet(socket_); }

// ---- out ----

base::status socket_stream::send(std::string_view bytes) {
  if (send_lost_) return base::closed;
  if (out_.empty()) last_sent_ = loop_.now();
  out_.append(bytes);
  above_ = above_ || out_.size() > low_water_;
  // While the system takes no more, the poller says when to go on.
  if (!(interest_ & loop::writable)) loop_.at_turn_end(*this);
  return base::ok;
}

void socket_stream::shut() noexcept {
  if (shut_asked_) return;
  shut_asked_ = true;
  if (out_.empty()) net::shut_write(socket_);
}

void socket_stream::flush() noexcept {
  bool progress = false;
  while (!out_.empty()) {
    const std::string_view all = out_.view();
    const net::io r = net::send(socket_, {&all, 1});
    if (r.what == net::outcome::done) {
      out_.consume(r.bytes);
      progress = true;
      continue;
    }
    if (r.what == net::outcome::would_block) break;
    send_lost_ = true;
    above_ = true;  // a writer that waits must be told, whatever was queued
    out_.clear();
  }
  if (progress) last_sent_ = loop_.now();
  const bool waits = !out_.empty();
  if (!waits) {
    out_.release();
    stall_timer_.cancel();
    if (shut_asked_ && progress) net::shut_write(socket_);
  } else if (stall_.count() > 0 && (progress || !stall_timer_.pending())) {
    stall_timer_.start_at(loop_.now() + stall_);
  }
  try {
    want(waits ? interest_ | loop::writable : interest_ & ~static_cast<unsigned>(loop::writable));
  } catch (const std::system_error&) {
    send_lost_ = above_ = true;
    out_.clear();
  }
}

void socket_stream::on_turn_end() noexcept {
  flush();
  if (!above_ || out_.size() > low_water_ || !observer_) return;
  above_ = false;
  observer_->on_drained();  // last: it may destroy this
}

void socket_stream::on_stall() {
  if (observer_) observer_->on_lost(base::timeout);
}

void socket_stream::abandon() noexcept {
  if (observer_) observer_->on_lost(base::closed);
}

// ---- the poller ----

void socket_stream::want(unsigned interest) {
  if (polled_ && interest == interest_) return;
  polled_ ? loop_.sockets().modify(socket_, interest, this) : loop_.sockets().add(socket_, interest, this);
  polled_ = true;
  interest_ = interest;
}

void socket_stream::leave_poller() noexcept {
  if (polled_) loop_.sockets().remove(socket_, this);
  polled_ = false;
  interest_ = 0;
}

void socket_stream::on_ready(unsigned ready) noexcept {
  if (ready & (loop::writable | loop::hangup) && !out_.empty()) {
    flush();
    loop_.at_turn_end(*this);  // tells that there is room again
  }
  if (!(ready & (loop::readable | loop::hangup))) return;
  if (listening_ && observer_) {
    listening_ = false;
    observer_->on_bytes();
    return;
  }
  // Nobody wants it yet.  A hangup would be told each turn: what it means is found out by the next receive.
  if (ready & loop::hangup) return leave_poller();
  try {
    want(interest_ & ~static_cast<unsigned>(loop::readable));
  } catch (const std::system_error&) {
    leave_poller();
  }
}

}  // namespace portico::upstream
