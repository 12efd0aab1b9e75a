// core/base/text.hpp - small questions about text that several parts ask.  Any thread; nothing here depends on a
// locale.
#pragma once
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace portico::base {

// ASCII only; other bytes stay as they are.
constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

// Letters compare without case, in ASCII.
bool equal_ignoring_case(std::string_view, std::string_view) noexcept;
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) noexcept;

std::string lower(std::string_view);

// Without the spaces, tabs, carriage returns and line feeds at both ends.
std::string_view trim(std::string_view) noexcept;

// The part before the first separator, which is removed from rest together with it; all of rest when there is none.
// For loops: while (!rest.empty()) use(cut(rest, ','));
std::string_view cut(std::string_view& rest, char separator) noexcept;

// All of text is one integer in base 10 that fits T: no spaces, no '+', '-' only for signed types.  Else nothing.
template <std::integral T>
std::optional<T> parse_integer(std::string_view text) noexcept {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

// One segment of a path, %XX decoded, appended to out.  False when a '%' is not followed by two hexadecimal digits; out
// is then as it was.  '+' stays '+'.  The result may hold any byte, '/' and NUL too: the caller decides what it allows.
bool percent_decode(std::string_view segment, std::string& out);
// Unreserved characters (RFC 3986) stay; all other bytes become %XX.
std::string percent_encode(std::string_view);

// Whether all of text is UTF-8 as RFC 3629 has it: shortest forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view) noexcept;

// For logs and messages: control characters (also those of U+0080..U+009F) and bytes that are not UTF-8 become \n, \r,
// \t or \xNN.  All else, the backslash too, stays.
void append_escaped(std::string& out, std::string_view);
std::string escaped(std::string_view);
// The inside of a JSON string; bytes that are not UTF-8 become \xNN, as in the log.
void append_json(std::string& out, std::string_view);
// Whether escaping would change nothing.
bool is_plain(std::string_view) noexcept;

// How many insertions, removals, replacements and swaps of neighbours lead from one to the other, without case;
// anything above limit is reported as limit + 1.
std::size_t edit_distance(std::string_view, std::string_view, std::size_t limit);
// The name that was probably meant: the nearest by edit distance, if that is at most a third of its length (and at
// least one change is always allowed).  Empty when none is near.  The first of equals.
std::string_view nearest(std::string_view written, std::span<const std::string_view> known);

}  // namespace portico::base
