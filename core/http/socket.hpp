// core/http/socket.hpp - the few calls on stream sockets that a server makes.  All sockets here are non-blocking and
// are not inherited by child processes.  socket_posix.cpp and socket_windows.cpp implement it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/loop/poller.hpp"

namespace portico::http {

namespace net {

using loop::descriptor;

enum class outcome {
  done,         // bytes > 0 were moved
  would_block,  // nothing now
  end,          // receive: the peer sends no more
  lost,         // the connection is broken
};
struct io {
  outcome what;
  std::size_t bytes;
};

io receive(descriptor, char* to, std::size_t size) noexcept;  // size > 0
// The pieces, at most 4, in one call; fewer bytes than they hold may be taken.
io send(descriptor, std::span<const std::string_view> pieces) noexcept;

// A part of an open file, which is read by its number (Windows: its HANDLE), copied as little as the system allows.
// Fewer bytes may be taken; end: the file ends before the offset, or cannot be read.
io send_file(descriptor, std::intptr_t file, std::uint64_t offset, std::size_t size) noexcept;

void shut_write(descriptor) noexcept;
void close(descriptor) noexcept;
void reset(descriptor) noexcept;  // closes so that the peer sees an error, not an end

// A numeric address and a port.
struct endpoint {
  std::array<char, 46> text{};
  std::uint8_t text_size = 0;
  std::uint16_t port = 0;
  std::string_view address() const noexcept { return {text.data(), text_size}; }
};

enum class accepting {
  accepted,
  nothing,    // nobody waits
  exhausted,  // no descriptors or memory left: try again in a while
  again,      // this one was gone already, others may wait
};
// accepted: *socket is non-blocking and sends without delay (TCP_NODELAY).
accepting accept(descriptor listener, descriptor* socket, endpoint* peer) noexcept;

struct listening {
  descriptor socket;
  std::uint16_t port;  // the one chosen where 0 was asked for
};
// host: a numeric address or a name, which is looked up (blocking).  One socket per address of it; for "localhost"
// 127.0.0.1 and, where the system has it, ::1.  All have the same port.  Throws std::system_error naming both.
std::vector<listening> listen(const std::string& host, std::uint16_t port);

}  // namespace net
}  // namespace portico::http
