// plugins/jobs/key_table.hpp - the Idempotency-Keys that were claimed in the last 24 hours.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "plugins/jobs/keyed_hash.hpp"

namespace jobs {

// Any thread.  A key is remembered as 16 bytes, so that a million of them cost about 50 MB and a client's words are not
// kept.  Time is given by the caller: seconds that never go back.
class key_table {
 public:
  static constexpr std::uint32_t lifetime_s = 24 * 60 * 60;
  enum class outcome { claimed, taken, full };

  explicit key_table(std::size_t capacity) : capacity_(capacity) {}
  // Of any number of callers with one key exactly one is told claimed.  full: capacity keys are alive; nothing changes.
  outcome claim(std::string_view key, std::uint32_t now_s);
  // Forgets a claim, so that the key can be used again.
  void release(std::string_view key);
  std::size_t size() const;  // those that ended and were not yet swept count too

 private:
  struct slot {
    keyed_hash::result name{};
    std::uint32_t claimed_s = 0;
    bool used = false;
  };
  std::size_t home(const keyed_hash::result& name) const noexcept { return name[0] & (slots_.size() - 1); }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }
  std::size_t find(const keyed_hash::result&) const noexcept;  // where it is, or the free slot where it would be
  void erase(std::size_t);
  void grow();
  void sweep(std::size_t slots, std::uint32_t now_s);

  mutable std::mutex guard_;
  const keyed_hash hash_;
  const std::size_t capacity_;
  std::vector<slot> slots_ = std::vector<slot>(64);  // a power of two, never full: open addressing, linear probing
  std::size_t count_ = 0, hand_ = 0;
  std::uint32_t swept_s_ = 0;
};

}  // namespace jobs
