// core/http/websocket_utf8.hpp - UTF-8 (RFC 3629) checked piece by piece, wherever the pieces are cut.
#pragma once
#include <cstdint>
#include <string_view>

namespace portico::http {

class utf8_check {
 public:
  // False once what was fed so far cannot be the beginning of UTF-8 text; it stays false.
  bool feed(std::string_view) noexcept;
  // Whether the text may end here.
  bool complete() const noexcept { return wanted_ == 0 && !bad_; }
  void reset() noexcept { *this = utf8_check(); }

 private:
  bool step(unsigned char) noexcept;
  std::uint8_t wanted_ = 0;                // continuation bytes of the character begun
  std::uint8_t low_ = 0x80, high_ = 0xbf;  // what the next of them may be
  bool bad_ = false;
};

}  // namespace portico::http
