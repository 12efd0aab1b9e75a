// plugins/jobs/job_id.hpp - the id of a job: a UUID, of which only the canonical lower-case spelling is one.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/jobs/keyed_hash.hpp"

namespace jobs {

struct job_id {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const job_id&) const = default;
};

// Ids are random, or of a few jobs of others: any eight bytes of one are its hash.
struct job_id_hash {
  std::size_t operator()(const job_id& id) const noexcept {
    std::uint64_t low;
    std::memcpy(&low, id.bytes.data(), sizeof low);
    return static_cast<std::size_t>(low);
  }
};

// Nothing for any other spelling: upper case, braces, no dashes.
std::optional<job_id> parse_job_id(std::string_view text) noexcept;
std::string to_text(const job_id&);
// New ids (version 4): numbers of a row that only who knows the secret can tell.  Any thread.
class id_source {
 public:
  job_id next() noexcept;

 private:
  const keyed_hash hash_;
  std::atomic<std::uint64_t> row_{0};
};

}  // namespace jobs
