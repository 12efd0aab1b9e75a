#include "core/http/websocket_frame.hpp"

#include <algorithm>
#include <cstring>

namespace portico::http {
namespace {

constexpr bool is_control(opcode o) noexcept { return (static_cast<unsigned>(o) & 8u) != 0; }

constexpr bool is_known(unsigned o) noexcept { return o <= 2 || (o >= 8 && o <= 10); }

}  // namespace

void apply_mask(char* data, std::size_t size, const mask_key& key, std::uint64_t offset) noexcept {
  unsigned char turned[8];
  for (std::size_t i = 0; i < sizeof turned; ++i) turned[i] = key[(offset + i) & 3];
  std::uint64_t wide;
  std::memcpy(&wide, turned, sizeof wide);
  std::size_t at = 0;
  for (; size - at >= sizeof wide; at += sizeof wide) {
    std::uint64_t eight;
    std::memcpy(&eight, data + at, sizeof eight);
    eight ^= wide;
    std::memcpy(data + at, &eight, sizeof eight);
  }
  for (; at < size; ++at) data[at] = static_cast<char>(static_cast<unsigned char>(data[at]) ^ turned[at & 7]);
}

frame_head::frame_head(opcode code, bool final, std::uint64_t payload, const mask_key* mask) noexcept {
  const unsigned masked = mask ? 0x80u : 0u;
  const std::size_t wide = payload < 126 ? 0 : payload <= 0xffff ? 2 : 8;
  data[0] = static_cast<char>((final ? 0x80u : 0u) | static_cast<unsigned>(code));
  data[1] = static_cast<char>(masked | (wide == 0 ? static_cast<unsigned>(payload) : wide == 2 ? 126u : 127u));
  for (std::size_t i = 0; i < wide; ++i) data[2 + i] = static_cast<char>(payload >> (8 * (wide - 1 - i)) & 0xff);
  size = 2 + wide;
  if (mask) std::memcpy(data + size, mask->data(), mask->size()), size += mask->size();
}

bool is_close_code(int code) noexcept {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

websocket_decoder::websocket_decoder(websocket_role role, std::size_t max_message) noexcept
    : role_(role), max_message_(max_message) {}

websocket_decoder::event websocket_decoder::fail(int code, std::string_view text) noexcept {
  fault_ = code;
  fault_text_ = text;
  return event::broken;
}

websocket_decoder::event websocket_decoder::feed(std::string_view& input) {
  if (delivered_) {
    delivered_ = false;
    message_.clear();
  }
  while (true) {
    if (!in_payload_) {
      bool complete = false;
      while (!complete && !input.empty()) {
        complete = head_byte(input.front());
        input.remove_prefix(1);
      }
      if (!complete) return event::more;
      if (const event e = begin_frame(); e != event::more) return e;
    }
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
    if (!take_payload(input.substr(0, size))) return fail(1007, "text that is not UTF-8");
    input.remove_prefix(size);
    if (left_) return event::more;
    if (const event e = end_frame(); e != event::more) return e;
  }
}

bool websocket_decoder::head_byte(char c) noexcept {
  head_[head_size_++] = static_cast<unsigned char>(c);
  if (head_size_ < 2) return false;
  const unsigned length = head_[1] & 0x7fu;
  const std::size_t whole = 2u + (length == 126 ? 2u : length == 127 ? 8u : 0u) + (head_[1] & 0x80u ? 4u : 0u);
  return head_size_ == whole;
}

websocket_decoder::event websocket_decoder::begin_frame() {
  const unsigned code = head_[0] & 0x0fu, short_length = head_[1] & 0x7fu;
  const std::size_t wide = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
  head_size_ = 0;
  final_ = (head_[0] & 0x80u) != 0;
  masked_ = (head_[1] & 0x80u) != 0;
  length_ = wide ? 0 : short_length;
  for (std::size_t i = 0; i < wide; ++i) length_ = length_ << 8 | head_[2 + i];
  if (masked_) std::copy_n(head_.begin() + 2 + static_cast<std::ptrdiff_t>(wide), mask_.size(), mask_.begin());
  if (head_[0] & 0x70u) return fail(1002, "a reserved bit is set");
  if (!is_known(code)) return fail(1002, "an unknown opcode");
  opcode_ = static_cast<opcode>(code);
  if (masked_ != (role_ == websocket_role::server))
    return fail(1002, masked_ ? "a server must not mask" : "a client must mask");
  if ((wide == 2 && length_ < 126) || (wide == 8 && length_ <= 0xffff) || length_ >> 63)
    return fail(1002, "a length that is not in its shortest form");
  left_ = length_;
  in_payload_ = true;
  if (is_control(opcode_)) {
    if (!final_) return fail(1002, "a control frame in fragments");
    if (length_ > control_.size()) return fail(1002, "a control frame over 125 bytes");
    control_size_ = 0;
    return event::more;
  }
  if ((opcode_ == opcode::continuation) != in_message_)
    return fail(1002, in_message_ ? "a new message inside another" : "a continuation of nothing");
  if (!in_message_) {
    in_message_ = true;
    text_ = opcode_ == opcode::text;
    utf8_.reset();
  }
  if (length_ > max_message_ - message_.size()) {
    if (!discard_) return fail(1009, "a message over the limit");
  }
  return event::more;
}

// Doubles, but never beyond what the frame announces, and never on an announcement alone.
void websocket_decoder::grow(std::size_t more) {
  const std::size_t need = message_.size() + more;
  if (need <= message_.capacity()) return;
  const std::uint64_t announced = message_.size() + left_;
  const std::uint64_t doubled = std::max<std::uint64_t>(need, std::uint64_t{message_.capacity()} * 2);
  message_.reserve(std::max(need, static_cast<std::size_t>(final_ ? std::min(doubled, announced) : doubled)));
}

bool websocket_decoder::take_payload(std::string_view piece) {
  const std::uint64_t offset = length_ - left_;
  if (is_control(opcode_)) {
    std::copy(piece.begin(), piece.end(), control_.begin() + control_size_);
    if (masked_) apply_mask(control_.data() + control_size_, piece.size(), mask_, offset);
    control_size_ = static_cast<std::uint8_t>(control_size_ + piece.size());
  } else if (!discard_) {
    grow(piece.size());
    message_.insert(message_.end(), piece.begin(), piece.end());
    char* const at = message_.data() + (message_.size() - piece.size());
    if (masked_) apply_mask(at, piece.size(), mask_, offset);
    if (text_ && !utf8_.feed({at, piece.size()})) return false;
  }
  left_ -= piece.size();
  return true;
}

websocket_decoder::event websocket_decoder::end_frame() {
  in_payload_ = false;
  if (is_control(opcode_)) return end_control();
  if (!final_) return event::more;
  in_message_ = false;
  if (discard_) return event::more;
  if (text_ && !utf8_.complete()) return fail(1007, "text that is not UTF-8");
  delivered_ = true;
  return event::message;
}

websocket_decoder::event websocket_decoder::end_control() {
  if (opcode_ == opcode::ping) return event::ping;
  if (opcode_ == opcode::pong) return event::pong;
  close_code_ = 1006;
  if (control_size_ == 1) return fail(1002, "a close frame of one byte");
  if (control_size_ >= 2) {
    close_code_ = static_cast<unsigned char>(control_[0]) << 8 | static_cast<unsigned char>(control_[1]);
    if (!is_close_code(close_code_)) return fail(1002, "a close code that must not be sent");
    utf8_check reason;
    if (!reason.feed(payload()) || !reason.complete()) return fail(1007, "a close reason that is not UTF-8");
  }
  return event::close;
}

std::string_view websocket_decoder::payload() const noexcept {
  const std::string_view all(control_.data(), control_size_);
  return opcode_ == opcode::close ? all.substr(std::min<std::size_t>(2, all.size())) : all;
}

void websocket_decoder::take(std::vector<char>& into) noexcept {
  // One that was large once must not keep its memory for ever.
  constexpr std::size_t kept = 1024 * 1024;
  into.clear();
  if (into.capacity() > kept) std::vector<char>().swap(into);
  into.swap(message_);
  delivered_ = false;
}

void websocket_decoder::discard_messages() noexcept {
  discard_ = true;
  delivered_ = false;
  std::vector<char>().swap(message_);
}

}  // namespace portico::http
