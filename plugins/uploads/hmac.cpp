#include "plugins/uploads/hmac.hpp"

#include <Poco/SHA2Engine.h>

#include <random>

namespace portico::uploads {
namespace {

constexpr std::size_t block_size = 64;  // of SHA-256

std::string finish(Poco::SHA2Engine& engine) {
  const Poco::DigestEngine::Digest& digest = engine.digest();
  return std::string(digest.begin(), digest.end());
}

std::string sha256(std::string_view message) {
  Poco::SHA2Engine engine(Poco::SHA2Engine::SHA_256);
  engine.update(message.data(), message.size());
  return finish(engine);
}

}  // namespace

// POCO 1.11's HMACEngine cannot be made with SHA2Engine, which lacks the constants it asks for.
std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string padded(key.size() > block_size ? sha256(key) : std::string(key));
  padded.resize(block_size, '\0');
  std::string inner_pad = padded, outer_pad = padded;
  for (char& c : inner_pad) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer_pad) c = static_cast<char>(c ^ 0x5C);

  Poco::SHA2Engine inner(Poco::SHA2Engine::SHA_256);
  inner.update(inner_pad.data(), inner_pad.size());
  inner.update(message.data(), message.size());
  const std::string first = finish(inner);

  Poco::SHA2Engine outer(Poco::SHA2Engine::SHA_256);
  outer.update(outer_pad.data(), outer_pad.size());
  outer.update(first.data(), first.size());
  return finish(outer);
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
