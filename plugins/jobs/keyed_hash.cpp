#include "plugins/jobs/keyed_hash.hpp"

#include <bit>
#include <cstddef>
#include <random>

namespace jobs {
namespace {

std::uint64_t random64(std::random_device& random) { return (std::uint64_t{random()} << 32) | random(); }

struct state {
  std::uint64_t v0, v1, v2, v3;
  void rounds(int n) noexcept {
    while (n--) {
      v0 += v1;
      v1 = std::rotl(v1, 13);
      v1 ^= v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16);
      v3 ^= v2;
      v0 += v3;
      v3 = std::rotl(v3, 21);
      v3 ^= v0;
      v2 += v1;
      v1 = std::rotl(v1, 17);
      v1 ^= v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) noexcept {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  std::uint64_t fold() const noexcept { return v0 ^ v1 ^ v2 ^ v3; }
};

std::uint64_t little_endian(const char* p, std::size_t n) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < n; ++i) word |= std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return word;
}

}  // namespace

keyed_hash::keyed_hash() : secret_{} {
  std::random_device random;
  for (std::uint64_t& word : secret_) word = random64(random);
}

keyed_hash::result keyed_hash::operator()(std::string_view text) const noexcept {
  state s{secret_[0] ^ 0x736f6d6570736575u, secret_[1] ^ 0x646f72616e646f6du ^ 0xee, secret_[0] ^ 0x6c7967656e657261u,
          secret_[1] ^ 0x7465646279746573u};
  const std::uint64_t length = std::uint64_t{text.size()} << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) s.take(little_endian(text.data(), 8));
  s.take(length | little_endian(text.data(), text.size()));
  s.v2 ^= 0xee;
  s.rounds(4);
  const std::uint64_t low = s.fold();
  s.v1 ^= 0xdd;
  s.rounds(4);
  return {low, s.fold()};
}

}  // namespace jobs
