// plugins/jobs/keyed_hash.hpp - SipHash-2-4 with 128 bits: short names for texts that clients choose.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace jobs {

// A pure function of the secret and the text; any thread.  Who does not know the secret cannot make two texts collide.
class keyed_hash {
 public:
  using result = std::array<std::uint64_t, 2>;
  keyed_hash();  // a random secret
  explicit keyed_hash(const std::array<std::uint64_t, 2>& secret) noexcept : secret_(secret) {}
  result operator()(std::string_view text) const noexcept;

 private:
  std::array<std::uint64_t, 2> secret_;
};

}  // namespace jobs
