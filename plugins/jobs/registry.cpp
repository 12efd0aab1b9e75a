#include "plugins/jobs/registry.hpp"

#include <algorithm>
#include <limits>

namespace jobs {
namespace {

// Jobs that have not ended are passed over when room is made; so many at most, or adding one would cost too much.
constexpr std::size_t most_passed_over = 1000;

}  // namespace

std::int64_t registry::next_created_us() {
  const std::lock_guard lock(order_guard_);
  last_created_us_ = std::max(last_created_us_ + 1, now_us());
  return last_created_us_;
}

void registry::created_before(std::int64_t us) {
  const std::lock_guard lock(order_guard_);
  last_created_us_ = std::max(last_created_us_, us);
}

bool registry::add(const std::shared_ptr<job>& j) {
  const auto graph = j->graph();
  const std::size_t bytes = graph ? graph->size() : 0;
  const std::lock_guard lock(order_guard_);
  if (!make_room(bytes, j->created_us())) return false;
  order_.emplace(j->created_us(), j);
  if (graph) graphs_.emplace(j->created_us(), bytes);
  graph_bytes_ += bytes;
  shard& s = shard_of(j->id());
  const std::lock_guard shard_lock(s.guard);
  s.jobs.emplace(j->id(), j);
  return true;
}

bool registry::make_room(std::size_t graph_bytes, std::int64_t now_us) {
  while (forget_oldest(now_us - bounds_.retention_us)) {
  }
  while (order_.size() >= bounds_.recent && forget_oldest(std::numeric_limits<std::int64_t>::max())) {
  }
  while (order_.size() >= bounds_.jobs)
    if (!forget_oldest(std::numeric_limits<std::int64_t>::max())) return false;
  while (graph_bytes_ + graph_bytes > bounds_.graph_bytes)
    if (!drop_oldest_graph()) return graph_bytes_ == 0;  // one alone is taken whatever its size
  return true;
}

bool registry::forget_oldest(std::int64_t created_before_us) {
  std::size_t passed = 0;
  for (auto i = order_.begin(); i != order_.end() && i->first < created_before_us && passed < most_passed_over;
       ++i, ++passed)
    if (i->second->forgettable()) return remove(i), true;
  return false;
}

bool registry::drop_oldest_graph() {
  std::size_t passed = 0;
  for (auto i = graphs_.begin(); i != graphs_.end() && passed < most_passed_over; ++i, ++passed) {
    const auto found = order_.find(i->first);
    if (!found->second->forgettable()) continue;
    found->second->drop_graph();
    graph_bytes_ -= i->second;
    graphs_.erase(i);
    return true;
  }
  return false;
}

void registry::remove(std::map<std::int64_t, std::shared_ptr<job>>::iterator i) {
  if (const auto graph = graphs_.find(i->first); graph != graphs_.end()) {
    graph_bytes_ -= graph->second;
    graphs_.erase(graph);
  }
  const job_id id = i->second->id();
  order_.erase(i);
  shard& s = shard_of(id);
  const std::lock_guard lock(s.guard);
  s.jobs.erase(id);
}

void registry::forget(const job& j) {
  const std::lock_guard lock(order_guard_);
  if (const auto i = order_.find(j.created_us()); i != order_.end()) remove(i);
}

std::shared_ptr<job> registry::find(const job_id& id) const {
  const shard& s = shard_of(id);
  const std::lock_guard lock(s.guard);
  const auto i = s.jobs.find(id);
  return i == s.jobs.end() ? nullptr : i->second;
}

std::vector<std::shared_ptr<job>> registry::newest(std::int64_t before_us, std::size_t n) const {
  std::vector<std::shared_ptr<job>> out;
  const std::lock_guard lock(order_guard_);
  for (auto i = order_.lower_bound(before_us); i != order_.begin() && out.size() < n;) out.push_back((--i)->second);
  return out;
}

std::size_t registry::size() const {
  const std::lock_guard lock(order_guard_);
  return order_.size();
}

std::size_t registry::graph_bytes() const {
  const std::lock_guard lock(order_guard_);
  return graph_bytes_;
}

}  // namespace jobs
