// core/http/syntax.hpp - which bytes may stand where in a message (RFC 9110, RFC 9112).  Pure, any thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace portico::http {

namespace syntax {

using table = std::array<char, 256>;

constexpr bool is_token_char(unsigned char c) noexcept {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
}

template <class F>
constexpr table make_table(F of) {
  table t{};
  for (unsigned c = 0; c < 256; ++c) t[c] = of(static_cast<unsigned char>(c));
  return t;
}

// The byte of a header name in lower case, or 0 where it may not stand in one.
inline constexpr table name_char = make_table([](unsigned char c) {
  if (!is_token_char(c)) return '\0';
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
});

// Not 0: may stand in a method.  Methods are case-sensitive, and none that exists has a small letter.
inline constexpr table method_char =
    make_table([](unsigned char c) { return static_cast<char>(is_token_char(c) && !(c >= 'a' && c <= 'z')); });

// Not 0: may stand in a target.  More than RFC 3986 allows, because clients send it: `|`, `{`, `"`.  Not `#`; not `\`
// in a path, where it would be a second slash to some file systems.
inline constexpr table query_char =
    make_table([](unsigned char c) { return static_cast<char>(c > 0x20 && c < 0x7f && c != '#'); });
inline constexpr table path_char = make_table(
    [](unsigned char c) { return static_cast<char>(c > 0x20 && c < 0x7f && c != '#' && c != '?' && c != '\\'); });

inline char of(const table& t, char c) noexcept { return t[static_cast<unsigned char>(c)]; }

// The first offset from at on that cannot stand in a header value: a control character but tab; size if there is none.
std::size_t value_end(const char* data, std::size_t at, std::size_t size) noexcept;

bool is_token(std::string_view) noexcept;
bool is_value(std::string_view) noexcept;  // fit to be sent as a header value

// host[:port], host a name, an IPv4 address or an IPv6 address in brackets; no user, no empty port, port at most 65535.
bool is_authority(std::string_view) noexcept;

// Decimal digits only, at most 18 of them; -1 when it is anything else.
std::int64_t content_length(std::string_view) noexcept;

// What a Connection header says: each option is looked at by itself, without case.
struct connection_options {
  bool close = false, keep_alive = false, upgrade = false;
  void add(std::string_view value) noexcept;
};

}  // namespace syntax
}  // namespace portico::http
