// core/http/exchange.hpp - one request and its response, as whoever answers it sees them.
//
// An exchange lives on the loop of its connection, from the complete request head until finish, abort or release to a
// websocket, one of which must be called exactly once.  A client that goes ends nothing by itself: it completes what is
// pending with base::closed, and the exchange is still held.  All members: on its loop only.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"
#include "core/http/message.hpp"

namespace portico::loop {
class event_loop;
}

namespace portico::http {

class byte_stream;
class connection;
class websocket;
struct websocket_options;
struct route;

class exchange {
 public:
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  loop::event_loop& home() const noexcept;
  const request_head& head() const noexcept;
  std::string_view id() const noexcept;    // unique in the life of the process; the client's own where accepted.  Every
                                           // answer brings it back as X-Request-Id
  std::string_view peer() const noexcept;  // numeric address
  std::uint32_t peer_port() const noexcept;
  std::string_view scheme() const noexcept;    // "http", or what set_scheme said
  std::string_view base_url() const noexcept;  // "scheme://authority"
  std::string_view token_id() const noexcept;

  // What the gate decides before the route sees it.
  void set_token_id(std::string_view);  // copied
  void set_base_url(std::string_view);  // copied
  void set_id(std::string_view);        // copied; instead of one that is made up
  void set_scheme(std::string_view);    // static text: "http" or "https"
  void set_peer(std::string_view);      // copied; the client a proxy speaks for, whose port is not known
  // On whatever answer comes; copied.  One that begin would refuse is left out, with a line in the log.
  void add_response_header(std::string_view name, std::string_view value);

  // The route that was found; nullptr before, and for answers of the gate.
  const route* matched() const noexcept;
  std::span<const field> params() const noexcept;  // of the route's pattern, in its order; percent-decoded
  void set_match(const route*, std::span<const std::string_view> raw_params);  // decodes; the names come from the route

  // The next piece of the body, at most max bytes (0: the engine chooses), into *chunk; size 0 at the end, and again
  // after it.  The view is valid until the next read.  While no read is pending nothing is taken from the socket.
  // ready, ok (done comes later), or an error: state (a read is pending), limit (longer than max_body), closed,
  // timeout, cancelled.  A body whose chunks are malformed is answered by the engine; to the holder the client has
  // gone.
  base::status read(std::size_t max, std::string_view* chunk, base::completion done, void* user);
  void set_max_body(std::int64_t bytes) noexcept;  // -1: the server's limit
  bool too_long() const noexcept;  // the announced length exceeds the limit: 413, unless set_max_body allows more

  // Status 200..599.  content_length -1: not known (chunks, or close for HTTP/1.0).  argument, and nothing sent: a bad
  // status, name or value, or a header the engine owns (content-length, transfer-encoding, connection, date).
  base::status begin(int status, std::span<const field> headers, std::int64_t content_length);
  // Queues a copy.  ready below the high-water mark, else ok and done when it has fallen below.  done nullptr: nobody
  // waits, ok, or limit and nothing queued when above the mark.
  base::status write(std::string_view bytes, base::completion done, void* user);
  // The same with a part of an open file: a descriptor (Windows: a HANDLE), which stays open and as it is until done.
  // done: all of it was taken by the system, or the client has gone, as it has for a file that proves too short.  The
  // loop reads the file: what the system does not hold in memory holds the loop up.  After a cancel in the middle only
  // abort is left, which finish then is.
  base::status send_file(std::intptr_t file, std::uint64_t offset, std::uint64_t size, base::completion done,
                         void* user);
  base::status finish();  // ends the response and gives the exchange back; what is queued is still sent
  base::status abort();   // gives it back and resets the connection, so that the client sees it as incomplete

  base::status cancel();  // completes what is pending with cancelled; no byte is lost
  // Told at most once, never from inside this call: closed, timeout (the deadline), or cancelled (stop below).
  base::status on_close(base::completion fn, void* user);
  base::status deadline(std::uint32_t ms);  // from now; 0: none
  // For whoever passes a body on in the holder's name and so does not wait on the exchange all the time: told once, as
  // on_close is but from a place of its own, that the client has gone (closed).  fn nullptr: no more.
  void on_gone(base::completion fn, void* user);
  // Whoever answers is stopping: pending operations complete cancelled, later waits fail at once with cancelled.
  void stop();

  bool begun() const noexcept;
  bool busy() const noexcept;    // an operation is pending
  bool closed() const noexcept;  // the client has gone

  // Answers an upgrade request; on ok the exchange counts as given back and *out is held instead (its head lives on).
  // protocol: not an upgrade request; the exchange is untouched.
  base::status accept_websocket(const websocket_options&, std::unique_ptr<websocket>* out);
  // What accept_websocket stands on: answers 101 with Connection, Upgrade: protocol and the headers, and the exchange
  // counts as given back; its head lives as long as the stream.  argument as begin; state: begun, or a body is unread.
  base::status upgrade(std::string_view protocol, std::span<const field> headers, std::unique_ptr<byte_stream>* out);

 private:
  friend class connection;
  // One operation that somebody waits for, from the call until done has been called.
  struct waiter {
    base::completion done = nullptr;
    void* user = nullptr;
    base::status result = base::ok;
    bool settled = false;
  };
  using time = std::chrono::steady_clock::time_point;

  explicit exchange(connection& c) noexcept : connection_(c) {}
  ~exchange() = default;
  void open(const request_head&, time now, std::int64_t max_body);
  // Called by the connection, as open is.
  void deliver() noexcept;  // calls done of what is settled
  bool settled() const noexcept { return read_.settled || write_.settled || close_.settled || gone_.settled; }
  void settle(waiter&, base::status) noexcept;
  void end(base::status reason) noexcept;  // the answer is no longer wanted
  void lost() noexcept;                    // nothing can be sent any more
  base::status take(std::size_t max, std::string_view* chunk);
  void on_body() noexcept;  // more of it was received, or its end
  void on_sent() noexcept;  // the system took some of what waited
  void break_off() noexcept;
  void add_timing();
  base::status may_write(std::uint64_t size) const noexcept;
  void send_body(std::string_view);
  bool complete_response();
  std::int64_t age() const noexcept;  // microseconds

  connection& connection_;
  const request_head* head_ = nullptr;
  const route* matched_ = nullptr;
  waiter read_, write_, close_, gone_;
  std::string_view* chunk_ = nullptr;  // where the pending read puts its piece, and what it asked for
  std::string_view piece_;
  std::size_t read_max_ = 0;
  std::int64_t max_body_ = -1, body_read_ = 0;
  std::int64_t promised_ = -1;     // the length of the answer's body; -1: not known
  std::uint64_t written_ = 0;      // of the answer's body
  base::status ended_ = base::ok;  // why the answer is no longer wanted, the first reason; ok: it is
  time started_{}, deadline_ = time::max();
  int status_ = 0;
  bool begun_ = false, chunked_ = false, bodyless_ = false, closed_ = false, stopped_ = false, continued_ = false;
  bool sends_file_ = false, broken_ = false;  // broken: a file was not sent to its end
  base::request_id id_;
  std::string_view scheme_;
  std::string own_id_, own_peer_, token_id_, added_, param_text_;
  mutable std::string base_url_;
  std::vector<field> params_;
};

// Answers with the error envelope {"error":{"code","message","details":null}} and gives the exchange back.
void answer_error(exchange&, int status, std::string_view code, std::string_view message,
                  std::span<const field> headers = {});
// Answers with a whole body and gives the exchange back.
void answer(exchange&, int status, std::string_view content_type, std::string_view body,
            std::span<const field> headers = {});

// A request that never was an exchange, as its head was not in order or did not come.
struct refused_request {
  loop::event_loop& home;
  std::string_view peer;  // numeric address
  int status;
  std::uint64_t body_bytes;
};

// Whoever gets every request whose head is well-formed: in the server the gate, in tests a stand-in.
class handler {
 public:
  virtual void on_exchange(exchange&) noexcept = 0;
  // The exchange is over and its last byte was handed to the system (or lost).  For the access log; head() is still
  // valid.  status 0: it was aborted before an answer was begun; 101: it became a stream.
  virtual void on_finished(const exchange&, int status, std::uint64_t body_bytes, std::int64_t microseconds) noexcept {
    (void)status, (void)body_bytes, (void)microseconds;
  }
  // The engine answered in its own name.
  virtual void on_refused(const refused_request&) noexcept {}

 protected:
  ~handler() = default;
};

}  // namespace portico::http
