// core/http/transport.hpp - the socket of one connection: what it waits for, and the bytes on their way out.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/http/buffer.hpp"
#include "core/http/shard.hpp"
#include "core/http/socket.hpp"
#include "core/loop/loop.hpp"

namespace portico::http {

class transport {
 public:
  // Takes the socket, and tells the watcher when something arrives.
  transport(shard&, net::descriptor, loop::watcher&);
  ~transport();
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  bool open() const noexcept { return open_; }

  // Reading is on at first.  Turned off only when something arrives that nobody wants, so that a request costs no call
  // of the poller.  watch_end: be told (`finished`) if the peer ends its side meanwhile.
  void pause_reading(bool watch_end) noexcept;
  void resume_reading() noexcept;
  net::io receive(std::span<char> to) noexcept;
  net::io discard() noexcept;

  // What waits to be sent.  Appending sends nothing.
  buffer& out() noexcept { return out_; }
  const buffer& out() const noexcept { return out_; }
  // Sends what waits, followed by these pieces without copying them first; what the system does not take of them is
  // appended.  For pieces that are large.
  void send(std::span<const std::string_view> pieces);
  // Puts a part of an open file behind what waits; it is read when its turn comes, and not closed.  Only when no file
  // is waiting.
  void send_file(std::intptr_t file, std::uint64_t offset, std::uint64_t size) noexcept;
  bool file_waits() const noexcept { return file_.size > 0; }
  void forget_file() noexcept { file_ = {}; }
  bool all_sent() const noexcept { return out_.empty() && !file_waits(); }
  // Sends what waits.  Afterwards it is all sent, or the watcher is told `writable`, or failed() is true.
  void flush() noexcept;
  void on_writable() noexcept;  // the watcher was told
  bool blocked() const noexcept { return blocked_; }
  bool failed() const noexcept { return failed_; }
  // Grows with every byte the system takes.
  std::uint64_t sent() const noexcept { return sent_; }

  void shut_write() noexcept;
  void close() noexcept;
  void reset() noexcept;

 private:
  struct file_part {
    std::intptr_t file = -1;
    std::uint64_t offset = 0, size = 0;
  };
  void want(unsigned interest) noexcept;
  void wait_writable() noexcept;
  void flush_file() noexcept;
  void took(net::io) noexcept;
  shard& shard_;
  loop::watcher& watcher_;
  buffer out_;
  file_part file_;  // behind out_
  std::uint64_t sent_ = 0;
  net::descriptor socket_;
  unsigned interest_ = loop::readable;
  bool open_ = true, blocked_ = false, failed_ = false;
};

}  // namespace portico::http
