// core/upstream/socket_stream.hpp - a connected socket on a loop: bytes in when somebody asks, bytes out at the turn's
// end.
#pragma once
#include <chrono>
#include <cstddef>
#include <string_view>

#include "core/http/buffer.hpp"
#include "core/http/byte_stream.hpp"
#include "core/loop/loop.hpp"

namespace portico::upstream {

class socket_stream;

// All streams of one client, so that none outlives it unnoticed.  Loop thread only.
struct stream_list {
  socket_stream* first = nullptr;
  std::size_t size = 0;
};

class socket_stream final : public http::byte_stream, loop::watcher, loop::turn_end {
 public:
  // Owns the socket from now on, also when it throws std::system_error.  stall: how long the other end may take no byte
  // of what is queued before on_lost(timeout); 0: for ever.  The observer is told of bytes without having asked for
  // any.
  socket_stream(loop::event_loop&, http::buffer_pool&, stream_list&, loop::descriptor, std::chrono::milliseconds stall);
  ~socket_stream() override;
  socket_stream(const socket_stream&) = delete;
  socket_stream& operator=(const socket_stream&) = delete;

  loop::event_loop& home() const noexcept override { return loop_; }
  void observe(observer&, std::size_t low_water) noexcept override;
  base::status receive(char* to, std::size_t size, std::size_t* got) noexcept override;
  // closed: the other end takes no more.  What it sent before can still be received.
  base::status send(std::string_view) override;
  std::size_t queued() const noexcept override { return out_.size(); }
  void shut() noexcept override;

  // As receive that found nothing, without looking: on_bytes comes when there is something.
  void listen();
  // What was queued is lost, and on_drained was told if anybody may have waited.
  bool send_lost() const noexcept { return send_lost_; }
  // When the other end last took bytes.
  loop::clock::time_point last_sent() const noexcept { return last_sent_; }
  // Nothing to be read and not ended, asked of the system.
  bool is_quiet() const noexcept;
  // The client ends: tells the observer closed.
  void abandon() noexcept;
  socket_stream* next() const noexcept { return after_; }

 private:
  void on_ready(unsigned) noexcept override;
  void on_turn_end() noexcept override;
  void on_stall();
  void flush() noexcept;
  void want(unsigned interest);
  void leave_poller() noexcept;

  loop::event_loop& loop_;
  stream_list& list_;
  socket_stream* before_ = nullptr;
  socket_stream* after_ = nullptr;
  const loop::descriptor socket_;
  const std::chrono::milliseconds stall_;
  observer* observer_ = nullptr;
  std::size_t low_water_ = 0;
  http::buffer out_;
  loop::timer stall_timer_;
  loop::clock::time_point last_sent_;
  unsigned interest_ = 0;  // what the poller has
  bool polled_ = false;    // the poller knows the socket
  bool listening_ = true;  // somebody waits for bytes
  bool above_ = false;     // more than low_water was queued since on_drained
  bool send_lost_ = false, shut_asked_ = false, ended_ = false;
};

}  // namespace portico::upstream
