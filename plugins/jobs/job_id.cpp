#include "plugins/jobs/job_id.hpp"

namespace jobs {
namespace {

bool dash_at(std::size_t i) noexcept { return i == 8 || i == 13 || i == 18 || i == 23; }

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::optional<job_id> parse_job_id(std::string_view text) noexcept {
  if (text.size() != 36) return std::nullopt;
  job_id id;
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (dash_at(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int d = digit(text[i]);
    if (d < 0) return std::nullopt;
    std::uint8_t& byte = id.bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(nibble % 2 ? byte | d : d << 4);
    ++nibble;
  }
  return id;
}

std::string to_text(const job_id& id) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (const std::uint8_t byte : id.bytes) {
    if (dash_at(text.size())) text += '-';
    text += hex[byte >> 4];
    text += hex[byte & 15];
  }
  return text;
}

job_id id_source::next() noexcept {
  const std::uint64_t n = row_.fetch_add(1, std::memory_order_relaxed);
  char row[sizeof n];
  std::memcpy(row, &n, sizeof n);
  const keyed_hash::result words = hash_(std::string_view(row, sizeof row));
  job_id id;
  std::memcpy(id.bytes.data(), words.data(), id.bytes.size());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

}  // namespace jobs
