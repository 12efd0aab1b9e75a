#include "plugins/uploads/base64url.hpp"

#include <array>
#include <cstdint>

namespace portico::uploads {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::uint8_t not_a_digit = 255;
constexpr auto values = [] {
  std::array<std::uint8_t, 256> v{};
  v.fill(not_a_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    v[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return v;
}();

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6;) out += alphabet[bits >> (held -= 6) & 63u];
  }
  if (held) out += alphabet[bits << (6 - held) & 63u];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(c)];
    if (value == not_a_digit) return std::nullopt;
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) out += static_cast<char>(bits >> (held -= 8) & 255u);
  }
  if (bits & ((1u << held) - 1u)) return std::nullopt;
  return out;
}

}  // namespace portico::uploads
