#include "plugins/uploads/hmac.hpp"

#include <sha2.h>

#include <array>
#include <cstdint>
#include <random>

namespace portico::uploads {
namespace {

std::string sha256(std::string_view first, std::string_view second) {
  SHA2_CTX sha;
  SHA256Init(&sha);
  for (const std::string_view part : {first, second})
    SHA256Update(&sha, reinterpret_cast<const std::uint8_t*>(part.data()), part.size());
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest;
  SHA256Final(digest.data(), &sha);
  return std::string(digest.begin(), digest.end());
}

std::string masked(std::string text, char mask) {
  for (char& c : text) c = static_cast<char>(c ^ mask);
  return text;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string padded(key.size() > SHA256_BLOCK_LENGTH ? sha256(key, {}) : std::string(key));
  padded.resize(SHA256_BLOCK_LENGTH, '\0');
  return sha256(masked(padded, 0x5C), sha256(masked(padded, 0x36), message));
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  // Through a volatile, so that the loop cannot be left early.
  const volatile unsigned char seen = difference;
  return seen == 0;
}

std::string random_bytes(std::size_t count) {
  std::random_device source;
  std::string out;
  out.reserve(count);
  while (out.size() < count) {
    const unsigned word = source();
    for (unsigned shift = 0; shift < 32 && out.size() < count; shift += 8)
      out += static_cast<char>(word >> shift & 255u);
  }
  return out;
}

std::string random_uuid() {
  static constexpr char hex[] = "0123456789abcdef";
  std::string bytes = random_bytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    out += hex[byte >> 4];
    out += hex[byte & 15];
  }
  return out;
}

}  // namespace portico::uploads
