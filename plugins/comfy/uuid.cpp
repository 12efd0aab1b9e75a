#include "plugins/comfy/uuid.hpp"

namespace comfy {
namespace {

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (uuid_has_dash_at(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int d = digit(text[i]);
    if (d < 0) return std::nullopt;
    std::uint8_t& byte = bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(nibble % 2 ? byte | d : d << 4);
    ++nibble;
  }
  return bytes;
}

}  // namespace comfy
