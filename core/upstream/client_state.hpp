// core/upstream/client_state.hpp - what the calls and websockets of one loop share.  Private to core/upstream.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/buffer.hpp"
#include "core/http/parser.hpp"
#include "core/loop/loop.hpp"
#include "core/upstream/client.hpp"
#include "core/upstream/connection.hpp"
#include "core/upstream/resolver.hpp"
#include "core/upstream/socket_stream.hpp"

namespace portico::upstream {

// The ways of talking to a server.  Each is judged by itself: one may work where the other is refused.
enum class talk : std::size_t { call, websocket };

// One server, as its URL names it: "host:port".
struct origin {
  std::string name;
  std::vector<std::unique_ptr<connection>> idle;  // the last used last
  std::size_t max_idle = 0;
  std::chrono::milliseconds keep_idle{0};
  std::size_t users = 0;          // calls and websockets that hold a pointer to it
  bool down = false;              // the last attempt to connect failed, and the log says so
  std::array<bool, 2> garbled{};  // by talk: its last answer was of no use, and the log says so
};

// Counters with one writer, read from any thread.
class count {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.store(read() + n, std::memory_order_relaxed); }
  void drop() noexcept { value_.store(read() - 1, std::memory_order_relaxed); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Owned by the client and by every call: what a plugin still holds when the client has ended stays valid.
struct client_state : std::enable_shared_from_this<client_state> {
  client_state(loop::event_loop&, loop::workers&, std::shared_ptr<const std::vector<settings>>);

  // The settings of the named upstream a URL lies in: the longest match, else the defaults.
  const settings& settings_for(std::string_view url) const noexcept;
  // Valid while it has users or idle connections.
  origin& origin_for(std::string_view authority, const settings&);

  // An idle connection, or nullptr.  certain: it was looked at just now, and is alive.
  std::unique_ptr<connection> take_idle(origin&, bool certain);
  void keep_idle(std::unique_ptr<connection>);
  void drop_idle(connection&) noexcept;  // one that became readable while nobody used it
  // How an attempt to connect went; the log hears of changes.
  void reached(origin&);
  void unreached(origin&, std::string_view why);
  // How an answer looked; the log hears of the first bad one in a row.
  void understood(origin& at, talk how) noexcept { at.garbled[static_cast<std::size_t>(how)] = false; }
  void misunderstood(origin&, talk how, std::string_view why);

  void end() noexcept;  // the client is destroyed

  loop::event_loop& loop;
  std::shared_ptr<const std::vector<settings>> upstreams;
  const settings defaults;
  const http::head_limits limits;
  count opened, reused, calls, failures, open, idle;
  http::buffer_pool buffers;
  resolver names;
  stream_list streams;
  std::map<std::string, origin, std::less<>> origins;
  loop::timer sweep;
  bool ended = false;
  bool told_of_tls = false;

 private:
  void sweep_idle();
};

}  // namespace portico::upstream
