// core/http/server.hpp - the listening sockets and the connections of all loops.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/address.hpp"
#include "core/http/exchange.hpp"
#include "core/http/parser.hpp"

namespace portico::http {

struct limits : head_limits {
  std::int64_t max_body = 101 * 1024 * 1024;        // bytes, where a route says nothing
  std::chrono::milliseconds head_timeout{10'000};   // from the first byte of a request to the end of its head: 408
  std::chrono::milliseconds keep_alive{75'000};     // idle between requests
  std::chrono::milliseconds body_timeout{30'000};   // without a byte of a body somebody waits for: read gets timeout
  std::chrono::milliseconds write_timeout{30'000};  // the peer takes no byte of what is queued: closed
  std::chrono::milliseconds request_timeout{0};     // the default deadline of an exchange; 0: none
  std::size_t high_water = 64 * 1024;               // bytes queued per connection before a write waits
  std::size_t max_connections = 0;                  // 0: none but the descriptor limit
  std::size_t connections_per_client = 0;           // what comes above is closed at once; 0: no limit
  std::vector<base::network> uncounted;             // clients that this limit is not for: proxies
  bool server_timing = false;                       // answers say how long they took
};

struct statistics {  // summed over loops; approximate while serving
  std::uint64_t connections_accepted = 0, connections_refused = 0, connections_open = 0, requests = 0,
                responses_4xx = 0, responses_5xx = 0, bytes_in = 0, bytes_out = 0;
};

// Used from loop 0 unless it says otherwise.
class server {
 public:
  // loops: loop 0 accepts and gives each connection to the loop with the fewest.  All must outlive the server.
  server(std::span<loop::event_loop* const> loops, const limits&, handler&);
  ~server();  // when no loop turns any more; what is still held by a handler must not be touched afterwards
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  // Binds and listens; before the loops run or on loop 0.  "localhost" binds 127.0.0.1 and, where the system has it,
  // ::1 with the same port.  Port 0: the system chooses; the chosen one is returned.  Throws std::system_error naming
  // address and port.
  std::uint16_t listen(const std::string& host, std::uint16_t port);
  void start();  // begins to accept

  // No new connections; idle ones are closed at once; the others answer what they have begun, with Connection: close.
  // done is called on loop 0 when the last connection has gone.
  void drain(std::function<void()> done);
  // Closes every connection now, with the exchanges of each told `closed`.
  void close_all();

  statistics stats() const noexcept;  // any thread

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace portico::http
