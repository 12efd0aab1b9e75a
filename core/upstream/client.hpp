// core/upstream/client.hpp - HTTP/1.1 calls to other servers, over one pool of kept-alive connections per loop.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/http/exchange.hpp"
#include "core/http/message.hpp"
#include "core/http/websocket.hpp"

namespace portico::loop {
class event_loop;
class workers;
}  // namespace portico::loop

namespace portico::upstream {

// One [upstream.NAME] section.
struct settings {
  std::string name;
  std::string url;                                     // "http://[user:pass@]host[:port][/path]", no trailing slash
  std::chrono::milliseconds connect_timeout{10'000};   // the name's lookup included
  std::chrono::milliseconds response_timeout{25'000};  // from the last byte sent to the answer's head
  std::chrono::milliseconds idle_timeout{30'000};      // without a byte of the answer's body, or of ours being taken
  std::size_t max_idle = 32;                           // kept connections per loop
  std::chrono::milliseconds keep_idle{30'000};         // how long an idle one is kept
};

// Views are needed during open only.
struct call_options {
  std::string_view method, url;
  std::span<const http::field> headers;  // not those of framing and connection, nor host
  std::int64_t content_length = 0;       // of the body to be written; 0: none, -1: chunked
  // 0: as the upstream's settings say; total 0: none.  idle stands for the response time-out, too.
  std::chrono::milliseconds connect{0}, idle{0}, total{0};
};

struct answer_head {
  int status = 0;                        // 200..999
  std::span<const http::field> headers;  // names in lower case; framing and connection headers are left out
  std::int64_t content_length = -1;      // as said, also where no body follows (HEAD, 304); -1: not known
};

struct pipe_result {
  base::status source = base::ok, sink = base::ok;
  std::int64_t bytes = 0;  // passed on
};

// One call, on its client's loop.  Errors of head, read and write: unreachable, timeout, closed (lost), protocol (not
// an answer of HTTP/1.x), cancelled.  After one only destroying it is left.  A safe call without a body is repeated
// once if a kept connection turns out dead before anything was answered.  Times are counted only while the server is
// waited for.
class call {
 public:
  // Gives the connection back: kept if the answer was read to its end, else closed.  Not while busy.
  virtual ~call() = default;

  // Queues a copy; completes as http::exchange::write does.  closed also when the answer came before the body was
  // taken: the head can be read.  argument: more than content_length.  state: a write is pending, or the body is
  // complete.
  virtual base::status write(std::string_view bytes, base::completion done, void* user) = 0;
  virtual base::status end() = 0;  // the body is complete; needed with content_length -1 only
  // The final answer's head, valid as long as the call.  Once (state); also while a write is pending.
  virtual base::status head(const answer_head** out, base::completion done, void* user) = 0;
  // The next piece of the answer, at most max bytes (0: as it comes), after head; empty at its end, and again after it.
  // Valid until the next read.  Nothing is taken from the socket while nobody reads.
  virtual base::status read(std::size_t max, std::string_view* chunk, base::completion done, void* user) = 0;

  // The rest of the exchange's request body becomes the call's, and is its end.  Counts as the pending write; meanwhile
  // the exchange must not be read, nor given back.  A failed source leaves the call's body unfinished.
  virtual base::status pipe_request(http::exchange& from, pipe_result*, base::completion done, void* user) = 0;
  // The rest of the answer's body is written to the exchange, which has begun; it is not finished.  Counts as the
  // pending read; meanwhile the exchange must not be written, nor given back.  The sink is closed when the client goes.
  virtual base::status pipe_response(http::exchange& to, pipe_result*, base::completion done, void* user) = 0;
  // done's status, or what is returned at once, is source's if not ok, else sink's.

  virtual base::status cancel() = 0;  // ends the call if something is pending; that completes with cancelled
  virtual void stop() = 0;            // the same, and later waits fail at once
  virtual bool busy() const noexcept = 0;
};

// A websocket that may still be connecting.  receive and send of the base give state until ready has completed.
class websocket : public http::websocket {
 public:
  // Until the handshake is done: ready, ok, or unreachable, timeout, closed, protocol (it was refused), cancelled.
  virtual base::status ready(base::completion done, void* user) = 0;
};

// Views are needed during connect only.
struct websocket_call {
  std::string_view url;                  // "ws://[user:pass@]host[:port]/path?query"
  std::string_view protocol;             // offered, comma-separated
  std::span<const http::field> headers;  // not those of the handshake
  std::chrono::milliseconds connect{0};  // until the handshake is done; 0: the upstream's connect_timeout
  http::websocket_options options;       // without protocol
};

// Since the client was made; open and idle: now.  reused: calls that found a kept connection.  failures: calls and
// websockets that ended with an error.
struct statistics {
  std::uint64_t connections_opened = 0, connections_reused = 0, connections_open = 0, connections_idle = 0, calls = 0,
                failures = 0;
};

// The calls of one loop.  Loop thread only, except stats().
class client {
 public:
  // upstreams: named ones; a call whose URL lies at or below one's url takes its settings.  workers resolve names.
  client(loop::event_loop&, loop::workers&, std::shared_ptr<const std::vector<settings>> upstreams);
  ~client();  // closes all connections: to calls and websockets that are still held they are lost
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // argument: bad URL (also https, which this build refuses), method, header or length; the log says which.  Never
  // waits.
  base::status open(const call_options&, std::unique_ptr<call>* out);
  base::status connect(const websocket_call&, std::unique_ptr<websocket>* out);
  statistics stats() const noexcept;  // any thread

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace portico::upstream
