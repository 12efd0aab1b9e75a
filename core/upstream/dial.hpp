// core/upstream/dial.hpp - addresses, names, and connecting to them.  dial_posix.cpp and dial_windows.cpp implement it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loop/poller.hpp"

namespace portico::upstream {

// An IPv4 or IPv6 address with a port, as the system wants it.
struct address {
  alignas(8) std::array<unsigned char, 28> bytes{};
  std::uint32_t size = 0;
};

// A numeric address, IPv6 without brackets; nothing for a name.
std::optional<address> numeric_address(std::string_view host, std::uint16_t port);
address with_port(address, std::uint16_t port) noexcept;

// The addresses of a name, in the system's order of preference, port 0.  Blocks.  Empty: *error says why.
std::vector<address> look_up(const std::string& name, std::string* error);

enum class dialled { connected, pending, failed };
// Opens a non-blocking socket that sends without delay and no child inherits, and begins to connect it.  failed: *error
// is the system's code, and there is no socket.  pending: it becomes writable, or hangs up.
dialled dial(const address&, loop::descriptor* socket, int* error) noexcept;
// How a pending one ended: 0, or the system's code.
int dial_error(loop::descriptor) noexcept;
std::string error_text(int code);

// Nothing to be read and not ended: fit for another call.
bool is_quiet(loop::descriptor) noexcept;

}  // namespace portico::upstream
