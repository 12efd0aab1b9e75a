// core/upstream/connection.hpp - one connection to a server that is kept from call to call, and the pool's side of it.
// Private to core/upstream.
#pragma once
#include <memory>

#include "core/http/buffer.hpp"
#include "core/http/byte_stream.hpp"
#include "core/http/parser.hpp"
#include "core/loop/loop.hpp"
#include "core/upstream/socket_stream.hpp"

namespace portico::upstream {

struct client_state;
struct origin;

// Who uses a connection now.  Told from the loop.
class connection_user {
 public:
  virtual void on_bytes() noexcept = 0;    // as byte_stream::observer
  virtual void on_drained() noexcept = 0;  // nothing is queued any more
  virtual void on_lost(base::status) noexcept = 0;

 protected:
  ~connection_user() = default;
};

// What a call finds warm in a kept connection: the socket, the parsers and their memory.
class connection final : http::byte_stream::observer {
 public:
  connection(client_state&, origin&, std::unique_ptr<socket_stream>);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void begin_use(connection_user&);
  void end_use();  // forgets the user and what was parsed

  socket_stream& stream() noexcept { return *stream_; }
  void drop_stream() noexcept;  // closes the socket; what was parsed stays, stream() is gone
  origin& home() noexcept { return origin_; }

  http::response_parser parser;
  http::body_decoder decoder;
  http::buffer head, body;  // bytes with the answer's head; those received after them
  std::vector<http::field> fields;
  loop::clock::time_point idle_since{};
  bool used = false;  // it carried a call before this one

 private:
  void on_bytes() noexcept override;
  void on_drained() noexcept override;
  void on_lost(base::status) noexcept override;

  client_state& client_;
  origin& origin_;
  std::unique_ptr<socket_stream> stream_;
  connection_user* user_ = nullptr;
};

}  // namespace portico::upstream
