#include "plugins/uploads/byte_range.hpp"

#include <algorithm>
#include <limits>

namespace portico::uploads {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();

// Digits only, at least one; stays at the largest number when there are more.
std::optional<std::uint64_t> number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (largest - digit) / 10 ? largest : value * 10 + digit;
  }
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<byte_range> parse_range(std::string_view header) {
  const std::size_t equals = header.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view unit = trimmed(header.substr(0, equals)), spec = trimmed(header.substr(equals + 1));
  constexpr std::string_view bytes = "bytes";
  if (!std::equal(unit.begin(), unit.end(), bytes.begin(), bytes.end(), [](char a, char b) { return (a | 32) == b; }))
    return std::nullopt;
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> first = number(spec.substr(0, dash)), last = number(spec.substr(dash + 1));
  if (dash == 0) return last ? std::optional(byte_range{0, *last, true}) : std::nullopt;
  if (!first || (!last && dash + 1 != spec.size())) return std::nullopt;
  if (last && *last < *first) return std::nullopt;
  return byte_range{*first, last.value_or(largest), false};
}

byte_span span_of(const byte_range& range, std::uint64_t size) noexcept {
  if (range.from_end) {
    const std::uint64_t length = std::min(range.last, size);
    return {size - length, length};
  }
  if (range.first >= size) return {size, 0};
  return {range.first, std::min(range.last, size - 1) - range.first + 1};
}

std::string to_header(const byte_range& range) {
  if (range.from_end)
    return range.last ? "bytes=-" + std::to_string(range.last) : "bytes=" + std::to_string(largest) + "-";
  std::string out = "bytes=" + std::to_string(range.first) + "-";
  return range.last == largest ? out : out += std::to_string(range.last);
}

}  // namespace portico::uploads
