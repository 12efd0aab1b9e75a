#include "core/base/address.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/system.hpp"
#include "core/base/text.hpp"

namespace portico::base {
namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// Four decimal numbers without leading zeros, as browsers and inet_pton take them.
bool parse_ipv4(std::string_view text, std::array<std::uint8_t, 4>& out) noexcept {
  std::size_t at = 0;
  for (std::size_t part = 0; part < 4; ++part) {
    if (part != 0 && (at >= text.size() || text[at++] != '.')) return false;
    const std::size_t begin = at;
    unsigned value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 3)
      value = value * 10 + static_cast<unsigned>(text[at++] - '0');
    if (at == begin || value > 255 || (at - begin > 1 && text[begin] == '0')) return false;
    out[part] = static_cast<std::uint8_t>(value);
  }
  return at == text.size();
}

// One side of "::", as groups of 16 bits; an IPv4 tail counts as two.  count is how many were found.
bool parse_groups(std::string_view text, bool may_end_in_ipv4, std::array<std::uint16_t, 8>& out,
                  std::size_t& count) noexcept {
  count = 0;
  if (text.empty()) return true;
  for (;;) {
    const std::size_t colon = text.find(':');
    const std::string_view group = text.substr(0, colon);
    if (colon == std::string_view::npos && may_end_in_ipv4 && group.find('.') != std::string_view::npos) {
      std::array<std::uint8_t, 4> tail{};
      if (count > 6 || !parse_ipv4(group, tail)) return false;
      out[count++] = static_cast<std::uint16_t>(tail[0] << 8 | tail[1]);
      out[count++] = static_cast<std::uint16_t>(tail[2] << 8 | tail[3]);
      return true;
    }
    if (group.empty() || group.size() > 4 || count == 8) return false;
    unsigned value = 0;
    for (char c : group) {
      const int digit = hex_value(c);
      if (digit < 0) return false;
      value = value << 4 | static_cast<unsigned>(digit);
    }
    out[count++] = static_cast<std::uint16_t>(value);
    if (colon == std::string_view::npos) return true;
    text.remove_prefix(colon + 1);
  }
}

bool parse_ipv6(std::string_view text, std::array<std::uint16_t, 8>& out) noexcept {
  out = {};
  const std::size_t gap = text.find("::");
  std::array<std::uint16_t, 8> left{}, right{};
  std::size_t left_count = 0, right_count = 0;
  if (gap == std::string_view::npos) {
    if (!parse_groups(text, true, left, left_count) || left_count != 8) return false;
    out = left;
    return true;
  }
  if (!parse_groups(text.substr(0, gap), false, left, left_count)) return false;
  if (!parse_groups(text.substr(gap + 2), true, right, right_count)) return false;
  if (left_count + right_count > 7) return false;
  for (std::size_t i = 0; i < left_count; ++i) out[i] = left[i];
  for (std::size_t i = 0; i < right_count; ++i) out[8 - right_count + i] = right[i];
  return true;
}

}  // namespace

bool address::is_v4() const noexcept { return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin()); }

std::optional<address> parse_address(std::string_view text) noexcept {
  address out;
  std::array<std::uint8_t, 4> v4{};
  if (parse_ipv4(text, v4)) {
    std::copy(v4_prefix.begin(), v4_prefix.end(), out.bytes.begin());
    std::copy(v4.begin(), v4.end(), out.bytes.begin() + v4_prefix.size());
    return out;
  }
  std::array<std::uint16_t, 8> v6{};
  if (text.find(':') == std::string_view::npos || !parse_ipv6(text, v6)) return std::nullopt;
  for (std::size_t i = 0; i < v6.size(); ++i) {
    out.bytes[2 * i] = static_cast<std::uint8_t>(v6[i] >> 8);
    out.bytes[2 * i + 1] = static_cast<std::uint8_t>(v6[i]);
  }
  return out;
}

address prefix_of(const address& a, unsigned bits) noexcept {
  address out;
  for (std::size_t i = 0; i < a.bytes.size() && bits > 0; ++i) {
    const unsigned here = std::min(bits, 8u);
    out.bytes[i] = static_cast<std::uint8_t>(a.bytes[i] & (0xff00u >> here));
    bits -= here;
  }
  return out;
}

address client_of(const address& a) noexcept { return a.is_v4() ? a : prefix_of(a, 64); }

std::size_t address_hash::operator()(const address& a) const noexcept {
  static const std::array<std::uint64_t, 2> secret = [] {
    std::array<unsigned char, 16> random;
    random_bytes(random);
    std::array<std::uint64_t, 2> out;
    std::memcpy(out.data(), random.data(), random.size());
    return out;
  }();
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), a.bytes.data(), a.bytes.size());
  std::uint64_t h = (words[0] ^ secret[0]) * 0x9e3779b97f4a7c15u;
  h = ((h ^ h >> 32) + (words[1] ^ secret[1])) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(h ^ h >> 32);
}

bool network::contains(const address& a) const noexcept { return prefix_of(a, bits) == first; }

std::optional<network> parse_network(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const std::optional<address> first = parse_address(text.substr(0, slash));
  if (!first) return std::nullopt;
  network out{*first, 128};
  if (slash == std::string_view::npos) return out;
  const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  const std::string_view digits = text.substr(slash + 1);
  const std::optional<unsigned> bits = parse_integer<unsigned>(digits);
  if (!bits || *bits > (v4 ? 32u : 128u) || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  out.bits = v4 ? *bits + 96 : *bits;
  if (!(prefix_of(*first, out.bits) == *first)) return std::nullopt;
  return out;
}

}  // namespace portico::base
