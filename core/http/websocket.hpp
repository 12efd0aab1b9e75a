// core/http/websocket.hpp - whole messages over one upgraded connection, either role (RFC 6455).
//
// Belongs to one loop.  Does masking, fragments, UTF-8 checks, ping, pong and the closing handshake.  No extension is
// offered or accepted.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/status.hpp"

namespace portico::http {

struct websocket_options {
  std::chrono::milliseconds ping{30'000};       // a ping after this much silence; timeout after two without an answer
  std::chrono::milliseconds close_wait{5'000};  // for the other end to finish the closing handshake, then it is cut
  std::size_t max_message = 64 * 1024 * 1024;   // bytes in one message, either way
  std::size_t high_water = 256 * 1024;          // bytes queued before a send waits
  std::string_view protocol;                    // accept: the one chosen; may be empty
};

struct websocket_message {
  bool text = false;
  int close_code = 0;      // with base::closed: the other end's code, 1006 if it sent none
  std::string_view bytes;  // valid until the next receive or close
};

class websocket {
 public:
  virtual ~websocket() = default;  // closes with 1001 if close() was not called

  // ready, ok, or an error: closed, timeout (no pong), protocol, limit (a longer message), cancelled, unreachable.
  // After an error only shutdown, receive (the same error again) and close are left.  closed comes when the connection
  // has really ended: the closing handshake is over and the other end has closed its socket too, or was cut after
  // close_wait.  While no receive is pending, at most one message is read ahead.  state: a receive is pending.
  virtual base::status receive(websocket_message* out, base::completion done, void* user) = 0;
  // Queues a copy as one message; completes as exchange::write does.  limit: longer than max_message.  closed: the
  // connection has ended or is being closed by either end.
  virtual base::status send(bool text, std::string_view bytes, base::completion done, void* user) = 0;
  // Begins to close but keeps the websocket: what is queued is still sent, then the closing handshake.  send fails with
  // closed from now on; receive goes on with what is still under way and ends with closed, see above; also after an
  // error.  For whoever must not open another connection while the other end still has this one.  argument: a code that
  // must not be sent, or a reason over 123 bytes or not UTF-8.  state: done already.
  virtual base::status shutdown(int code, std::string_view reason) = 0;
  virtual base::status cancel() = 0;  // completes what is pending with cancelled
  virtual void stop() = 0;            // the same, and later waits fail at once with cancelled
  virtual bool busy() const noexcept = 0;
  // As shutdown, with nobody to be told; what is not fit to be sent becomes 1000 without a reason.  The object may be
  // destroyed at once.
  virtual void close(int code, std::string_view reason) = 0;
};

}  // namespace portico::http
