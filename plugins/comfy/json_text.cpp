#include "plugins/comfy/json_text.hpp"

#include <cstdint>

namespace comfy::json {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | (c >> 6)), put(0x80 | (c & 63));
  if (c < 0x10000) return put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 63)), put(0x80 | (c & 63));
  put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 63)), put(0x80 | ((c >> 6) & 63)), put(0x80 | (c & 63));
}

}  // namespace

int hex4(const char* p, const char* end) noexcept {
  if (end - p < 4) return -1;
  int n = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const int lower = c | 32;
    if (digit(c))
      n = n * 16 + (c - '0');
    else if (lower >= 'a' && lower <= 'f')
      n = n * 16 + (lower - 'a' + 10);
    else
      return -1;
  }
  return n;
}

std::size_t utf8_sequence(std::string_view s) noexcept {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned c = byte(0);
  if (s.empty()) return 0;
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF) return tail(1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF)
    return tail(1) && tail(2) && !(c == 0xE0 && byte(1) < 0xA0) && !(c == 0xED && byte(1) > 0x9F) ? 3 : 0;
  if (c >= 0xF0 && c <= 0xF4)
    return tail(1) && tail(2) && tail(3) && !(c == 0xF0 && byte(1) < 0x90) && !(c == 0xF4 && byte(1) > 0x8F) ? 4 : 0;
  return 0;
}

std::string unescape(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      const std::size_t n = utf8_sequence(s.substr(i));
      if (n)
        out.append(s.substr(i, n));
      else
        out += replacement;
      i += n ? n - 1 : 0;
      continue;
    }
    switch (s[++i]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        auto c = static_cast<std::uint32_t>(hex4(s.data() + i + 1, s.data() + s.size()));
        i += 4;
        const bool pair = c >= 0xD800 && c <= 0xDBFF && i + 2 < s.size() && s[i + 1] == '\\' && s[i + 2] == 'u';
        const int low = pair ? hex4(s.data() + i + 3, s.data() + s.size()) : -1;
        if (low >= 0xDC00 && low <= 0xDFFF) {
          c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
          i += 6;
        }
        if (c >= 0xD800 && c <= 0xDFFF)
          out += replacement;
        else
          append_utf8(out, c);
        break;
      }
      default:
        out += s[i];
    }
  }
  return out;
}

}  // namespace comfy::json
