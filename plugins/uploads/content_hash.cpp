#include "plugins/uploads/content_hash.hpp"

#include <blake3.h>

namespace portico::uploads {

struct content_hash::state {
  blake3_hasher hasher;
};

content_hash::content_hash() : state_(std::make_unique<state>()) { blake3_hasher_init(&state_->hasher); }
content_hash::~content_hash() = default;

void content_hash::update(std::string_view bytes) noexcept {
  blake3_hasher_update(&state_->hasher, bytes.data(), bytes.size());
}

std::string content_hash::text() const {
  static constexpr char hex[] = "0123456789abcdef";
  std::uint8_t sum[BLAKE3_OUT_LEN];
  blake3_hasher_finalize(&state_->hasher, sum, sizeof sum);
  std::string out = "blake3:";
  for (const std::uint8_t byte : sum) {
    out += hex[byte >> 4];
    out += hex[byte & 15];
  }
  return out;
}

}  // namespace portico::uploads
