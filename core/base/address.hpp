// core/base/address.hpp - IP addresses and networks as numbers.  Pure, never looks a name up.  Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace portico::base {

// Sixteen bytes in network order; an IPv4 address as IPv6 maps it (::ffff:192.0.2.1), however it was written.
struct address {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const address&) const noexcept = default;
  bool is_v4() const noexcept;
};

// "192.0.2.1" without leading zeros, or "2001:db8::1" without brackets; nothing for any other text.
std::optional<address> parse_address(std::string_view) noexcept;

// All addresses with the same first bits.
struct network {
  address first;
  unsigned bits = 128;  // of the sixteen bytes
  bool contains(const address&) const noexcept;
};

// "192.0.2.0/24", "2001:db8::/32", or an address alone.  Nothing for any other text, or when bits are set behind the
// prefix.
std::optional<network> parse_network(std::string_view) noexcept;

// The address with all but its first bits cleared.
address prefix_of(const address&, unsigned bits) noexcept;

// What one client is told apart by: an IPv4 address, or the /64 that an IPv6 subscriber has for himself.
address client_of(const address&) noexcept;
struct address_hash {  // mixed with a number of this process, so that nobody can choose addresses that collide
  std::size_t operator()(const address&) const noexcept;
};

}  // namespace portico::base
