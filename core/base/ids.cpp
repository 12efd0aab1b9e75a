#include "core/base/ids.hpp"

#include <atomic>
#include <cstdint>

#include "core/base/system.hpp"
#include "core/base/text.hpp"

namespace portico::base {
namespace {

constexpr char hex[] = "0123456789abcdef";
constexpr std::size_t prefix_size = 8;
constexpr std::uint64_t block = 1024;

template <class Out>
void write_hex(std::uint64_t value, Out first, std::size_t digits) noexcept {
  for (std::size_t i = digits; i-- > 0; value >>= 4) first[i] = hex[value & 15];
}

std::uint32_t draw_process_number() noexcept {
  try {
    std::array<unsigned char, 4> bytes{};
    random_bytes(bytes);
    return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24;
  } catch (...) {
    return 0;  // it only keeps the logs of several processes apart
  }
}

struct process_prefix {
  std::array<char, prefix_size> text;
  process_prefix() noexcept { write_hex(draw_process_number(), text.begin(), text.size()); }
};

// Threads take numbers in blocks, so that a number costs no shared cache line.
std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> next_block{0};
  thread_local std::uint64_t next = 0, end = 0;
  if (next == end) {
    next = next_block.fetch_add(block, std::memory_order_relaxed);
    end = next + block;
  }
  return next++;
}

}  // namespace

request_id next_request_id() noexcept {
  static const process_prefix prefix;
  request_id id;
  for (std::size_t i = 0; i < prefix_size; ++i) id.text_[i] = prefix.text[i];
  id.text_[prefix_size] = '-';
  write_hex(next_number(), id.text_.begin() + prefix_size + 1, id.text_.size() - prefix_size - 1);
  return id;
}

std::string make_uuid() {
  std::array<unsigned char, 16> bytes{};
  random_bytes(bytes);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3F) | 0x80);
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += hex[bytes[i] >> 4];
    out += hex[bytes[i] & 15];
  }
  return out;
}

bool is_canonical_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_value(text[i]) < 0 || lower(text[i]) != text[i]) return false;
  }
  return true;
}

}  // namespace portico::base
