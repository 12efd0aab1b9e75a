#include "core/base/loopback.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/text.hpp"

namespace portico::base {
namespace {

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

bool is_loopback_literal(std::string_view host) noexcept {
  std::array<std::uint8_t, 4> v4{};
  if (parse_ipv4(host, v4)) return v4[0] == 127;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::array<std::uint16_t, 8> v6{};
  if (host.find(':') == std::string_view::npos || !parse_ipv6(host, v6)) return false;
  for (std::size_t i = 0; i < 5; ++i)
    if (v6[i] != 0) return false;
  if (v6[5] == 0xffff) return v6[6] >> 8 == 127;
  return v6[5] == 0 && v6[6] == 0 && v6[7] == 1;
}

bool is_loopback_name(std::string_view host) noexcept {
  if (is_loopback_literal(host)) return true;
  constexpr std::string_view name = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < name.size() || !equal_ignoring_case(host.substr(host.size() - name.size()), name)) return false;
  if (host.size() == name.size()) return true;
  return host[host.size() - name.size() - 1] == '.' && host.size() > name.size() + 1;
}

}  // namespace portico::base
