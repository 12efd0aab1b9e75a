// core/http/shard.hpp - the server's part on one loop: its connections, and what they share.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/http/buffer.hpp"
#include "core/http/server.hpp"
#include "core/http/socket.hpp"
#include "core/http/writer.hpp"
#include "core/loop/loop.hpp"

namespace portico::http {

class client_count;
class connection;

// A count that one thread changes and any may read.
class counter {
 public:
  void add(std::uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class shard {
 public:
  shard(loop::event_loop&, const limits&, handler&, client_count&);
  ~shard();  // with its loop at rest; connections are closed, nobody is told
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  // Any thread.  A connection counts from the moment it is given to this loop.
  std::size_t open() const noexcept { return open_.load(std::memory_order_relaxed); }
  // Loop 0.  The connection begins on this shard's loop.
  void give(net::descriptor, const net::endpoint& peer);

  // On the loop, from here on.
  // Closes what is idle and lets the rest answer what it has begun.  empty(user) is called once, when none is left.
  void drain(void (*empty)(void*), void* user);
  void close_all() noexcept;
  bool draining() const noexcept { return draining_; }
  void remove(connection&) noexcept;  // destroys it

  loop::event_loop& home;
  const limits& bounds;
  handler& answers;
  buffer_pool buffers;
  date_line date;
  counter requests, responses_4xx, responses_5xx, bytes_in, bytes_out;

 private:
  void begin(net::descriptor, const net::endpoint& peer);
  void left(const net::endpoint& peer) noexcept;
  client_count& clients_;
  std::atomic<std::size_t> open_{0};
  connection* first_ = nullptr;
  void (*empty_)(void*) = nullptr;
  void* empty_user_ = nullptr;
  bool draining_ = false;
};

}  // namespace portico::http
