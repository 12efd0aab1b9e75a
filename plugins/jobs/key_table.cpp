#include "plugins/jobs/key_table.hpp"

#include <utility>

namespace jobs {

key_table::outcome key_table::claim(std::string_view key, std::uint32_t now_s) {
  const keyed_hash::result name = hash_(key);
  const std::lock_guard lock(guard_);
  sweep(16, now_s);  // each claim clears a little, so that no claim ever clears much
  std::size_t i = find(name);
  if (slots_[i].used) {
    if (now_s - slots_[i].claimed_s < lifetime_s) return outcome::taken;
    slots_[i].claimed_s = now_s;
    return outcome::claimed;
  }
  if (count_ >= capacity_ && swept_s_ != now_s) {
    sweep(slots_.size(), now_s);
    swept_s_ = now_s;
  }
  if (count_ >= capacity_) return outcome::full;
  if ((count_ + 1) * 8 > slots_.size() * 7) grow();
  i = find(name);
  slots_[i] = slot{name, now_s, true};
  ++count_;
  return outcome::claimed;
}

void key_table::release(std::string_view key) {
  const keyed_hash::result name = hash_(key);
  const std::lock_guard lock(guard_);
  if (const std::size_t i = find(name); slots_[i].used) erase(i);
}

std::size_t key_table::size() const {
  const std::lock_guard lock(guard_);
  return count_;
}

std::size_t key_table::find(const keyed_hash::result& name) const noexcept {
  std::size_t i = home(name);
  while (slots_[i].used && slots_[i].name != name) i = next(i);
  return i;
}

// Moves back what probed past the slot, so that every key is still found from its home on.
void key_table::erase(std::size_t hole) {
  for (std::size_t i = next(hole); slots_[i].used; i = next(i)) {
    const std::size_t from_home = (i - home(slots_[i].name)) & (slots_.size() - 1);
    const std::size_t from_hole = (i - hole) & (slots_.size() - 1);
    if (from_home < from_hole) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = slot{};
  --count_;
}

void key_table::grow() {
  std::vector<slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  for (const slot& s : old)
    if (s.used) slots_[find(s.name)] = s;
  hand_ = 0;
}

void key_table::sweep(std::size_t slots, std::uint32_t now_s) {
  for (; slots; --slots) {
    hand_ &= slots_.size() - 1;
    const slot& s = slots_[hand_];
    // What moves into an emptied slot is looked at too, before the hand goes on.
    if (s.used && now_s - s.claimed_s >= lifetime_s)
      erase(hand_);
    else
      ++hand_;
  }
}

}  // namespace jobs
