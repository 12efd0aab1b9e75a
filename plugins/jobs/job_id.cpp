#include "plugins/jobs/job_id.hpp"

#include "plugins/comfy/uuid.hpp"

namespace jobs {
std::optional<job_id> parse_job_id(std::string_view text) noexcept {
  const auto bytes = comfy::parse_uuid(text);
  return bytes ? std::optional(job_id{*bytes}) : std::nullopt;
}

std::string to_text(const job_id& id) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (const std::uint8_t byte : id.bytes) {
    if (comfy::uuid_has_dash_at(text.size())) text += '-';
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
