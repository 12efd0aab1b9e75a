// core/http/websocket_frame.hpp - frames of RFC 6455, from and to bytes.  No I/O.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/http/websocket_utf8.hpp"

namespace portico::http {

enum class websocket_role {
  server,
  client
};  // of this side: a client masks what it sends, and must not get masked frames

enum class opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

using mask_key = std::array<unsigned char, 4>;

// Masks, or unmasks, in place.  offset: of data in its frame's payload.
void apply_mask(char* data, std::size_t size, const mask_key&, std::uint64_t offset) noexcept;

// The bytes before a payload of that size; a mask only from a client.
struct frame_head {
  frame_head(opcode, bool final, std::uint64_t payload, const mask_key* mask) noexcept;
  std::string_view bytes() const noexcept { return {data, size}; }
  char data[14];
  std::size_t size;
};

// Codes that may stand in a close frame: 1000..1003, 1007..1014 and 3000..4999.
bool is_close_code(int code) noexcept;
inline constexpr std::size_t max_close_reason = 123;  // bytes: what a control frame holds besides the code

// Takes frames apart and puts messages together.  After `broken` it must not be fed any more.
class websocket_decoder {
 public:
  enum class event { more, message, ping, pong, close, broken };

  // max_message: bytes in one message, over all its fragments.
  websocket_decoder(websocket_role, std::size_t max_message) noexcept;

  // Takes bytes from the front of input until something is complete, or all is taken (`more`).
  event feed(std::string_view& input);

  // After `message`, until the next feed.
  bool text() const noexcept { return text_; }
  // Moves the message out; what `into` held before is dropped, its memory is used for the next one.
  void take(std::vector<char>& into) noexcept;

  // After ping, pong and close, until the next feed: the payload; of close, the reason.
  std::string_view payload() const noexcept;
  int close_code() const noexcept { return close_code_; }  // 1006: the frame had none

  // After `broken`: what to close with.  1002 protocol, 1007 not UTF-8, 1009 too long.
  int fault() const noexcept { return fault_; }
  std::string_view fault_text() const noexcept { return fault_text_; }

  // Messages are no longer wanted: their bytes are skipped, and no `message` comes.
  void discard_messages() noexcept;

 private:
  event fail(int code, std::string_view text) noexcept;
  bool head_byte(char c) noexcept;  // true: the head is complete
  event begin_frame();
  event end_frame();
  event end_control();
  bool take_payload(std::string_view piece);
  void grow(std::size_t more);

  const websocket_role role_;
  const std::size_t max_message_;
  std::vector<char> message_;
  utf8_check utf8_;
  std::uint64_t length_ = 0, left_ = 0;  // of the frame's payload
  mask_key mask_{};
  int close_code_ = 0, fault_ = 0;
  std::string_view fault_text_;
  std::array<char, 125> control_;
  std::array<unsigned char, 14> head_;
  std::uint8_t head_size_ = 0, control_size_ = 0;
  opcode opcode_ = opcode::continuation;
  bool final_ = false, masked_ = false, in_payload_ = false, in_message_ = false, text_ = false, discard_ = false,
       delivered_ = false;
};

}  // namespace portico::http
