#include "core/http/upgraded_stream.hpp"

#include <cstring>
#include <utility>

#include "core/http/connection.hpp"

namespace portico::http {

upgraded_stream::upgraded_stream(connection& c) noexcept : connection_(&c), home_(c.shard_.home) {}

upgraded_stream::~upgraded_stream() {
  if (!connection_) return;
  connection_->stream_ = nullptr;
  connection_->wake();  // sends what it can, and closes
}

bool upgraded_stream::usable() const noexcept { return connection_ && connection_->transport_.open(); }

loop::event_loop& upgraded_stream::home() const noexcept { return home_; }

void upgraded_stream::observe(observer& o, std::size_t low_water) noexcept {
  observer_ = &o;
  low_water_ = low_water;
  if (!connection_) return;
  tell_bytes_ = connection_->body_.has_raw();
  tell_lost_ = lost_ != base::ok;
  if (tell_bytes_ || tell_lost_) connection_->wake();
  if (usable()) connection_->transport_.resume_reading();
}

base::status upgraded_stream::receive(char* to, std::size_t size, std::size_t* got) noexcept {
  *got = 0;
  if (!connection_) return base::closed;
  if (const std::string_view early = connection_->body_.take_raw(size); !early.empty()) {
    std::memcpy(to, early.data(), early.size());
    *got = early.size();
    return base::ready;
  }
  if (!usable() || connection_->input_ended_) return base::closed;
  unread_ = false;
  connection_->transport_.resume_reading();
  const net::io in = connection_->transport_.receive({to, size});
  switch (in.what) {
    case net::outcome::done:
      *got = in.bytes;
      return base::ready;
    case net::outcome::would_block:
      return base::ok;
    case net::outcome::end:
      connection_->on_end_of_input();
      return base::closed;
    case net::outcome::lost:
      connection_->lose(base::closed);
      return base::closed;
  }
  return base::closed;
}

base::status upgraded_stream::send(std::string_view bytes) {
  if (!usable() || shut_) return base::closed;
  connection_->transport_.out().append(bytes);
  if (queued() > low_water_) above_ = true;
  connection_->wake();
  return base::ok;
}

std::size_t upgraded_stream::queued() const noexcept { return usable() ? connection_->transport_.out().size() : 0; }

void upgraded_stream::shut() noexcept {
  if (!usable()) return;
  shut_ = true;
  connection_->wake();
}

void upgraded_stream::on_readable() noexcept {
  // Told already, and nobody received since: nothing more is said until somebody does.
  if (unread_) return connection_->transport_.pause_reading(false);
  unread_ = tell_bytes_ = true;
  connection_->wake();
}

void upgraded_stream::on_sent() noexcept {
  if (above_ && queued() <= low_water_) {
    above_ = false;
    tell_drained_ = true;
    connection_->wake();
  }
  if (shut_ && queued() == 0) connection_->transport_.shut_write();
}

void upgraded_stream::on_lost(base::status why) noexcept {
  lost_ = why;
  tell_lost_ = true;
}

void upgraded_stream::deliver() noexcept {
  if (!observer_) return;
  // The observer may destroy the stream at any call; the connection then has none.
  connection& c = *connection_;
  if (std::exchange(tell_bytes_, false)) observer_->on_bytes();
  if (c.stream_ == this && std::exchange(tell_drained_, false)) observer_->on_drained();
  if (c.stream_ == this && std::exchange(tell_lost_, false)) observer_->on_lost(lost_);
}

}  // namespace portico::http
