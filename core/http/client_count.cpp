#include "core/http/client_count.hpp"

#include <algorithm>

namespace portico::http {

bool client_count::counts(const base::address& a) const noexcept {
  return std::none_of(uncounted_.begin(), uncounted_.end(), [&](const base::network& n) { return n.contains(a); });
}

bool client_count::enter(const net::endpoint& peer) {
  if (most_ == 0) return true;
  const auto a = base::parse_address(peer.address());
  if (!a || !counts(*a)) return true;
  const std::lock_guard hold(lock_);
  std::size_t& open = open_[base::client_of(*a)];
  if (open == most_) return false;
  ++open;
  return true;
}

void client_count::leave(const net::endpoint& peer) noexcept {
  if (most_ == 0) return;
  const auto a = base::parse_address(peer.address());
  if (!a || !counts(*a)) return;
  const std::lock_guard hold(lock_);
  if (const auto i = open_.find(base::client_of(*a)); i != open_.end() && --i->second == 0) open_.erase(i);
}

}  // namespace portico::http
