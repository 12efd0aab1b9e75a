#include "core/loop/timers.hpp"

#include <algorithm>

namespace portico::loop {

timer_queue::~timer_queue() {
  for (const entry& e : heap_) e.what->slot_ = timer::none;  // so that a timer may outlive its loop
}

void timer_queue::put(std::size_t slot, const entry& e) noexcept {
  heap_[slot] = e;
  e.what->slot_ = slot;
}

// Gives e, which belongs at slot or above or below it, its place.
void timer_queue::settle(std::size_t slot, const entry& e) noexcept {
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (!earlier(e, heap_[parent])) break;
    put(slot, heap_[parent]);
    slot = parent;
  }
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && earlier(heap_[child + 1], heap_[child])) ++child;
    if (!earlier(heap_[child], e)) break;
    put(slot, heap_[child]);
    slot = child;
  }
  put(slot, e);
}

void timer_queue::start(timer& t, clock::time_point when) {
  const entry e{when, started_, &t};
  if (t.slot_ == timer::none) {
    heap_.push_back(e);
    t.slot_ = heap_.size() - 1;
  }
  ++started_;
  settle(t.slot_, e);
}

void timer_queue::cancel(timer& t) noexcept {
  const std::size_t slot = t.slot_;
  if (slot == timer::none) return;
  t.slot_ = timer::none;
  const entry last = heap_.back();
  heap_.pop_back();
  if (slot < heap_.size()) settle(slot, last);
}

void timer_queue::run_due(clock::time_point now) noexcept {
  // timer::start_at admits no time before now, so whatever a callback starts stands behind all that was due before.
  const std::uint64_t before = started_;
  while (!heap_.empty() && heap_[0].when <= now && heap_[0].order < before) {
    timer& t = *heap_[0].what;
    cancel(t);
    t.callback_(t.user_);
  }
}

std::optional<clock::time_point> timer_queue::next() const noexcept {
  if (heap_.empty()) return std::nullopt;
  return heap_[0].when;
}

timer::timer(event_loop& loop, callback call, void* user) noexcept : loop_(loop), callback_(call), user_(user) {}

timer::~timer() { cancel(); }

void timer::start(std::chrono::milliseconds from_now) { start_at(clock::now() + from_now); }

void timer::start_at(clock::time_point when) { loop_.timers_->start(*this, std::max(when, loop_.now_)); }

void timer::cancel() noexcept {
  if (pending()) loop_.timers_->cancel(*this);
}

}  // namespace portico::loop
