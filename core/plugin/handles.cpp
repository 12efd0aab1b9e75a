#include "core/plugin/handles.hpp"

#include <mutex>

#include "core/loop/loop.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/manager.hpp"

namespace portico::plugin {
namespace {

constexpr unsigned table_bits = 10, index_bits = 20;
constexpr std::uint64_t most_tables = 1u << table_bits, most_objects = 1u << index_bits;
constexpr std::uint64_t last_generation = (std::uint64_t{1} << (64 - table_bits - index_bits)) - 1;

std::array<std::atomic<handle_table*>, most_tables> tables;  // number 0 stays empty: a handle of 0 is none
std::mutex registration;

}  // namespace

const char* name_of(kind k) noexcept {
  constexpr std::array<const char*, kinds> names = {"exchange", "call", "websocket", "timer", "work item"};
  return names[static_cast<std::size_t>(k)];
}

std::uint64_t object::handle() const noexcept {
  return generation_ << (table_bits + index_bits) | std::uint64_t{index_} << table_bits | home_.handles.number;
}

void object::hold_for(instance& owner, const label& where) noexcept {
  owner_ = &owner;
  where_ = &where;
  next_free_ = nullptr;
  shard& s = owner.shards[home_.index];
  before_ = nullptr;
  after_ = s.first;
  if (s.first) s.first->before_ = this;
  s.first = this;
  ++s.objects;
}

void object::let_go() noexcept {
  shard& s = owner_->shards[home_.index];
  (before_ ? before_->after_ : s.first) = after_;
  if (after_) after_->before_ = before_;
  --s.objects;
  owner_ = nullptr;
  ++generation_;
}

bool object::spent() const noexcept { return generation_ > last_generation; }

handle_table::handle_table(loop::event_loop& l) : loop(l), number(0) {
  const std::lock_guard hold(registration);
  for (std::uint32_t n = 1; n < most_tables; ++n) {
    if (tables[n].load(std::memory_order_relaxed)) continue;
    number = n;
    tables[n].store(this, std::memory_order_release);
    return;
  }
  throw refusal("this process has " + std::to_string(most_tables - 1) +
                " event loops with plugins already; use fewer threads");
}

handle_table::~handle_table() {
  const std::lock_guard hold(registration);
  tables[number].store(nullptr, std::memory_order_release);
}

bool handle_table::enter(object& o) {
  if (objects.size() >= most_objects) return false;
  o.index_ = static_cast<std::uint32_t>(objects.size());
  objects.push_back(&o);
  return true;
}

object* handle_table::find(std::uint64_t handle, kind k, bool* wrong_thread) noexcept {
  *wrong_thread = false;
  handle_table* const table = tables[handle & (most_tables - 1)].load(std::memory_order_acquire);
  if (!table) return nullptr;
  if (!table->loop.here()) {
    *wrong_thread = true;
    return nullptr;
  }
  const std::uint64_t index = (handle >> table_bits) & (most_objects - 1);
  if (index >= table->objects.size()) return nullptr;
  object* const found = table->objects[index];
  const bool right = found->generation_ == handle >> (table_bits + index_bits) && found->kind_ == k && found->owner_;
  return right ? found : nullptr;
}

handle_table* handle_table::here() noexcept {
  for (auto& slot : tables)
    if (handle_table* const t = slot.load(std::memory_order_acquire); t && t->loop.here()) return t;
  return nullptr;
}

}  // namespace portico::plugin
