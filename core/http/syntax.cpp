#include "core/http/syntax.hpp"

#include <cstring>

#include "core/base/text.hpp"

namespace portico::http::syntax {

namespace {

constexpr std::uint64_t every(unsigned char c) noexcept { return 0x0101010101010101u * c; }

// Whether one of eight bytes is below 0x20, or is 0x7f.
bool has_control(const char* eight) noexcept {
  std::uint64_t x;
  std::memcpy(&x, eight, sizeof x);
  const std::uint64_t del = x ^ every(0x7f);
  return ((((x - every(0x20)) & ~x) | ((del - every(1)) & ~del)) & every(0x80)) != 0;
}

bool is_name_or_ipv4(std::string_view host) noexcept {
  for (const char c : host) {
    const char l = base::lower(c);
    if (!base::is_digit(c) && !(l >= 'a' && l <= 'z') && c != '-' && c != '.' && c != '_' && c != '~') return false;
  }
  return !host.empty();
}

bool is_ipv6(std::string_view address) noexcept {
  for (const char c : address)
    if (base::hex_value(c) < 0 && c != ':' && c != '.') return false;
  return address.find(':') != std::string_view::npos;
}

}  // namespace

std::size_t value_end(const char* data, std::size_t at, std::size_t size) noexcept {
  for (;;) {
    while (size - at >= 8 && !has_control(data + at)) at += 8;
    const std::size_t stop = size - at >= 8 ? at + 8 : size;
    for (; at < stop; ++at)
      if (base::is_control(data[at]) && data[at] != '\t') return at;
    if (at == size) return size;
  }
}

bool is_token(std::string_view s) noexcept {
  for (const char c : s)
    if (!of(name_char, c)) return false;
  return !s.empty();
}

bool is_value(std::string_view s) noexcept { return value_end(s.data(), 0, s.size()) == s.size(); }

bool is_authority(std::string_view s) noexcept {
  std::size_t end = s.find(':');
  if (!s.empty() && s.front() == '[') {
    const std::size_t close = s.find(']');
    if (close == std::string_view::npos || !is_ipv6(s.substr(1, close - 1))) return false;
    end = close + 1;
  } else if (!is_name_or_ipv4(s.substr(0, end))) {
    return false;
  }
  if (end >= s.size()) return true;
  const std::string_view port = s.substr(end + 1);
  if (s[end] != ':' || port.size() > 5) return false;
  return base::parse_integer<std::uint16_t>(port).has_value();
}

std::int64_t content_length(std::string_view s) noexcept {
  if (s.empty() || s.size() > 18) return -1;
  std::int64_t n = 0;
  for (const char c : s) {
    if (!base::is_digit(c)) return -1;
    n = n * 10 + (c - '0');
  }
  return n;
}

void connection_options::add(std::string_view value) noexcept {
  while (!value.empty()) {
    const std::string_view option = base::trim(base::cut(value, ','));
    if (base::equal_ignoring_case(option, "close")) close = true;
    if (base::equal_ignoring_case(option, "keep-alive")) keep_alive = true;
    if (base::equal_ignoring_case(option, "upgrade")) upgrade = true;
  }
}

}  // namespace portico::http::syntax
