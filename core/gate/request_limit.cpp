#include "core/gate/request_limit.hpp"

#include <algorithm>

namespace portico::gate {
namespace {

constexpr std::chrono::microseconds second{1'000'000};

}  // namespace

request_limit::request_limit(std::uint32_t per_second, std::uint32_t burst) noexcept
    : interval_(per_second == 0 ? duration(0) : std::max(second / per_second, duration(1))),
      tolerance_(interval_ * (std::max(burst, 1u) - 1)) {}

std::uint32_t request_limit::admit(std::string_view text, time now) {
  if (!limits()) return 0;
  const auto parsed = base::parse_address(text);
  if (!parsed) return 0;
  const base::address client = base::client_of(*parsed);
  share& s = shares_[base::address_hash()(client) % shares];
  const std::lock_guard hold(s.lock);
  auto known = s.used_until.find(client);
  if (known == s.used_until.end()) {
    if (s.used_until.size() >= most) std::erase_if(s.used_until, [&](const auto& e) { return e.second <= now; });
    if (s.used_until.size() >= most) return 0;
    known = s.used_until.emplace(client, now).first;
  }
  const time used = std::max(known->second, now);
  if (used - now > tolerance_) {
    const auto wait = std::chrono::duration_cast<duration>(used - now) - tolerance_;
    return static_cast<std::uint32_t>((wait + second - duration(1)) / second);
  }
  known->second = used + interval_;
  return 0;
}

}  // namespace portico::gate
