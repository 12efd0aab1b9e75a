#include "core/http/websocket_utf8.hpp"

#include <cstddef>
#include <cstring>

namespace portico::http {

bool utf8_check::feed(std::string_view text) noexcept {
  if (bad_) return false;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t eight;
    if (wanted_ == 0 && text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if (!(eight & 0x8080808080808080u)) {
        at += sizeof eight;
        continue;
      }
    }
    if (!step(static_cast<unsigned char>(text[at++]))) return bad_ = true, false;
  }
  return true;
}

bool utf8_check::step(unsigned char c) noexcept {
  if (wanted_) {
    if (c < low_ || c > high_) return false;
    --wanted_;
    low_ = 0x80, high_ = 0xbf;
    return true;
  }
  if (c < 0x80) return true;
  if (c < 0xc2 || c > 0xf4) return false;  // 0x80..0xbf cannot begin a character; 0xc0, 0xc1 would be over-long
  wanted_ = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
  if (c == 0xe0) low_ = 0xa0;  // shorter forms exist below
  if (c == 0xf0) low_ = 0x90;
  if (c == 0xed) high_ = 0x9f;  // surrogates above
  if (c == 0xf4) high_ = 0x8f;  // beyond U+10FFFF
  return true;
}

}  // namespace portico::http
