#include "plugins/uploads/asset_index.hpp"

#include <algorithm>
#include <utility>

namespace portico::uploads {
namespace {

bool is_over(const asset& a, instant at) noexcept { return a.expires != 0 && a.expires <= at; }

}  // namespace

asset_ptr asset_index::find(std::string_view id, instant at) {
  const std::lock_guard lock(guard_);
  return find_locked(id, at);
}

asset_ptr asset_index::by_hash(std::string_view hash, instant at) {
  const std::lock_guard lock(guard_);
  return oldest_locked(hash, at, [](const asset&) { return true; });
}

asset_ptr asset_index::same(std::string_view hash, asset_kind kind, std::string_view target, instant at) {
  const std::lock_guard lock(guard_);
  return oldest_locked(
      hash, at, [&](const asset& a) { return a.kind == kind && (kind == asset_kind::input || a.target == target); });
}

asset_index::added asset_index::add(asset a, instant at) {
  const std::lock_guard lock(guard_);
  asset_ptr present = oldest_locked(a.bytes->hash, at, [&](const asset& other) {
    return other.kind == a.kind && (a.kind == asset_kind::input || other.target == a.target);
  });
  if (present) return {std::move(present), false};
  auto stored = std::make_shared<const asset>(std::move(a));
  by_id_[stored->id] = stored;
  by_hash_[stored->bytes->hash].push_back(stored);
  expect_locked(*stored);
  return {std::move(stored), true};
}

asset_ptr asset_index::prolong(std::string_view id, instant expires, instant at) {
  const std::lock_guard lock(guard_);
  asset_ptr present = find_locked(id, at);
  if (!present || present->expires == 0 || (expires != 0 && expires <= present->expires)) return present;
  asset longer = *present;
  longer.expires = expires;
  auto stored = std::make_shared<const asset>(std::move(longer));
  auto& twins = by_hash_.find(stored->bytes->hash)->second;
  std::replace(twins.begin(), twins.end(), present, asset_ptr(stored));
  by_id_.find(id)->second = stored;
  expect_locked(*stored);
  return stored;
}

bool asset_index::remove(std::string_view id, instant at) {
  const std::lock_guard lock(guard_);
  asset_ptr present = find_locked(id, at);
  if (!present) return false;
  drop_locked(std::move(present));
  return true;
}

void asset_index::sweep(instant at) {
  const std::lock_guard lock(guard_);
  while (!expiring_.empty() && expiring_.begin()->first <= at) {
    const std::string id = std::move(expiring_.begin()->second);
    expiring_.erase(expiring_.begin());
    find_locked(id, at);  // drops it, if it has not been prolonged since
  }
}

std::size_t asset_index::size() const {
  const std::lock_guard lock(guard_);
  return by_id_.size();
}

asset_ptr asset_index::find_locked(std::string_view id, instant at) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  if (!is_over(*found->second, at)) return found->second;
  drop_locked(found->second);
  return nullptr;
}

template <class Accept>
asset_ptr asset_index::oldest_locked(std::string_view hash, instant at, Accept accept) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;
  std::vector<asset_ptr> over;
  asset_ptr oldest;
  for (const asset_ptr& a : found->second) {
    if (is_over(*a, at))
      over.push_back(a);
    else if (!a->bytes->lost.load(std::memory_order_relaxed) && accept(*a)) {
      oldest = a;
      break;
    }
  }
  for (asset_ptr& a : over) drop_locked(std::move(a));
  return oldest;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the caller's may be one of those that are erased here
void asset_index::drop_locked(asset_ptr a) {
  by_id_.erase(a->id);
  const auto twins = by_hash_.find(a->bytes->hash);
  std::erase(twins->second, a);
  if (twins->second.empty()) by_hash_.erase(twins);
}

void asset_index::expect_locked(const asset& a) {
  if (a.expires) expiring_.emplace(a.expires, a.id);
}

}  // namespace portico::uploads
