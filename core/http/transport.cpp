#include "core/http/transport.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include "core/base/log.hpp"

namespace portico::http {

transport::transport(shard& s, net::descriptor socket, loop::watcher& watcher)
    : shard_(s), watcher_(watcher), out_(s.buffers), socket_(socket) {
  shard_.home.sockets().add(socket_, interest_, &watcher_);
}

transport::~transport() { close(); }

void transport::want(unsigned interest) noexcept {
  if (!open_ || interest == interest_) return;
  try {
    shard_.home.sockets().modify(socket_, interest, &watcher_);
    interest_ = interest;
  } catch (const std::system_error&) {
    failed_ = true;  // the system is out of memory; the connection cannot go on
  }
}

void transport::pause_reading(bool watch_end) noexcept {
  const unsigned rest = interest_ & ~(loop::readable | loop::finished);
  want(rest | (watch_end ? loop::finished : 0u));
}

void transport::resume_reading() noexcept { want((interest_ & ~loop::finished) | loop::readable); }

net::io transport::receive(std::span<char> to) noexcept {
  const net::io got = net::receive(socket_, to.data(), to.size());
  if (got.what == net::outcome::done) shard_.bytes_in.add(got.bytes);
  return got;
}

net::io transport::discard() noexcept {
  std::array<char, 64 * 1024> unwanted;
  return receive(unwanted);
}

void transport::took(net::io result) noexcept {
  if (result.what == net::outcome::done) {
    sent_ += result.bytes;
    shard_.bytes_out.add(result.bytes);
  } else if (result.what != net::outcome::would_block) {
    failed_ = true;
  }
}

void transport::send(std::span<const std::string_view> pieces) {
  std::size_t taken = 0;
  if (open_ && !blocked_ && !failed_) {
    std::array<std::string_view, 4> all{out_.view()};
    std::copy(pieces.begin(), pieces.end(), all.begin() + 1);
    const net::io result = net::send(socket_, std::span(all).first(pieces.size() + 1));
    took(result);
    if (failed_) return;
    taken = result.bytes;
    const std::size_t old = std::min(taken, out_.size());
    out_.consume(old);
    taken -= old;
  }
  for (std::string_view piece : pieces) {
    const std::size_t gone = std::min(taken, piece.size());
    taken -= gone;
    out_.append(piece.substr(gone));
  }
}

void transport::send_file(std::intptr_t file, std::uint64_t offset, std::uint64_t size) noexcept {
  file_ = {file, offset, size};
}

void transport::wait_writable() noexcept {
  blocked_ = true;
  want(interest_ | loop::writable);
}

void transport::flush() noexcept {
  if (!open_ || blocked_ || failed_) return;
  if (out_.empty()) return flush_file();
  const std::string_view all = out_.view();
  const net::io result = net::send(socket_, std::span(&all, 1));
  took(result);
  if (failed_) return;
  out_.consume(result.bytes);
  if (!out_.empty()) return wait_writable();
  out_.release();
  flush_file();
}

// As much as the system takes, but no more at a time than leaves the loop to its other connections.
void transport::flush_file() noexcept {
  constexpr std::uint64_t most = 1024 * 1024;
  std::uint64_t left = std::min(file_.size, most);
  while (left > 0) {
    const net::io result = net::send_file(socket_, file_.file, file_.offset, static_cast<std::size_t>(left));
    if (result.what == net::outcome::end)
      base::log(base::level::warning, "http", "a file became shorter, or unreadable, while it was sent");
    took(result);
    if (failed_) return forget_file();
    if (result.what == net::outcome::would_block) break;
    file_.offset += result.bytes;
    file_.size -= result.bytes;
    left -= result.bytes;
  }
  if (file_waits()) wait_writable();
}

void transport::on_writable() noexcept {
  blocked_ = false;
  if (all_sent()) want(interest_ & ~loop::writable);
}

void transport::shut_write() noexcept {
  if (open_) net::shut_write(socket_);
}

void transport::close() noexcept {
  if (!open_) return;
  open_ = false;
  shard_.home.sockets().remove(socket_, &watcher_);
  net::close(socket_);
  out_.release();
  forget_file();
}

void transport::reset() noexcept {
  if (!open_) return;
  open_ = false;
  shard_.home.sockets().remove(socket_, &watcher_);
  net::reset(socket_);
  out_.release();
  forget_file();
}

}  // namespace portico::http
