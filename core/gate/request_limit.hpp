// core/gate/request_limit.hpp - how many requests each client may make in a second.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "core/base/address.hpp"

namespace portico::gate {

// The generic cell rate algorithm: for each client only the time is kept at which it will have used up what it took.
// Shared by all loops: the clients are spread over a few locks, each held for one look-up.  At most 65,536 clients are
// kept, about 5 MB; those whose time has passed make room, and when all are busy newcomers pass uncounted.
class request_limit {
 public:
  using time = std::chrono::steady_clock::time_point;

  // per_second: 0 lets everybody pass.  burst: how many may come at once, 1 or more.
  request_limit(std::uint32_t per_second, std::uint32_t burst) noexcept;

  bool limits() const noexcept { return interval_.count() > 0; }
  // Takes one request of the client, told apart by base::client_of.  0: it may pass; else it may not, and may try again
  // in so many seconds, 1 or more.  An address that is none passes.
  std::uint32_t admit(std::string_view address, time now);

 private:
  using duration = std::chrono::microseconds;
  static constexpr std::size_t shares = 16, most = 65'536 / shares;
  struct share {
    std::mutex lock;
    std::unordered_map<base::address, time, base::address_hash> used_until;
  };
  const duration interval_, tolerance_;
  std::array<share, shares> shares_;
};

}  // namespace portico::gate
