#include "core/loop/loop.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/loop/timers.hpp"

namespace portico::loop {
namespace {

thread_local event_loop* turned_here = nullptr;

}  // namespace

// What others want done here.  One lock for a moment; a wake only while the loop sleeps.
struct event_loop::mailbox {
  struct item {
    void (*fn)(void*);
    void* user;
    void (*drop)(void*);
  };
  std::mutex lock;
  std::vector<item> incoming;
  bool sleeping = false;  // the loop waits, or is about to: the next post must wake it
  bool stop = false;
  std::vector<item> running;  // the loop's alone; swapped with incoming, so that neither is allocated anew

  std::atomic<int> waking{0};  // threads that are about to wake the loop: it may not be destroyed under their hands

  // With the lock held: whether wake must be called after it was given back.
  bool must_wake() noexcept {
    if (!std::exchange(sleeping, false)) return false;
    waking.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  void wake(poller& p) noexcept {
    p.wake();
    waking.fetch_sub(1, std::memory_order_release);  // the last touch
  }
};

event_loop::event_loop(std::uint32_t index)
    : index_(index),
      timers_(std::make_unique<timer_queue>()),
      mailbox_(std::make_unique<mailbox>()),
      now_(clock::now()) {}

event_loop::~event_loop() {
  while (mailbox_->waking.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  // What is dropped may post again.
  while (!mailbox_->incoming.empty()) {
    for (const mailbox::item& i : std::exchange(mailbox_->incoming, {})) {
      if (i.drop) i.drop(i.user);
    }
  }
}

event_loop* event_loop::current() noexcept { return turned_here; }

void event_loop::post(void (*fn)(void*), void* user, void (*drop)(void*)) {
  bool wake = false;
  {
    const std::lock_guard hold(mailbox_->lock);
    mailbox_->incoming.push_back({fn, user, drop});
    wake = mailbox_->must_wake();
  }
  if (wake) mailbox_->wake(poller_);
}

void event_loop::stop() noexcept {
  bool wake = false;
  {
    const std::lock_guard hold(mailbox_->lock);
    mailbox_->stop = true;
    wake = mailbox_->must_wake();
  }
  if (wake) mailbox_->wake(poller_);
}

void event_loop::run() noexcept {
  event_loop* const outer = std::exchange(turned_here, this);
  stopping_ = false;
  while (!stopping_) turn();
  turned_here = outer;
}

void event_loop::turn() noexcept {
  poller_.wait(patience());
  asleep_.store(false, std::memory_order_relaxed);
  turns_.fetch_add(1, std::memory_order_relaxed);
  now_ = clock::now();
  poller_.dispatch();
  timers_->run_due(now_);
  stopping_ = run_posted();
  run_turn_ends();
}

// How long the next wait may last.  From here on a post wakes the loop if it is going to sleep.
std::chrono::milliseconds event_loop::patience() noexcept {
  using std::chrono::milliseconds;
  if (ends_.first) return milliseconds(0);
  milliseconds time(-1);
  if (const auto next = timers_->next()) {
    // Rounded up: a wait that ends just before the timer would be followed by one of no length.
    time = std::max(std::chrono::ceil<milliseconds>(*next - clock::now()), milliseconds(0));
    if (time.count() == 0) return time;
  }
  const std::lock_guard hold(mailbox_->lock);
  if (!mailbox_->incoming.empty() || mailbox_->stop) return milliseconds(0);
  mailbox_->sleeping = true;
  asleep_.store(true, std::memory_order_relaxed);
  return time;
}

// Runs what was posted so far; what that posts in turn waits for the next turn.  Whether stop was asked for.
bool event_loop::run_posted() noexcept {
  bool stop = false;
  {
    const std::lock_guard hold(mailbox_->lock);
    mailbox_->sleeping = false;
    mailbox_->incoming.swap(mailbox_->running);
    stop = std::exchange(mailbox_->stop, false);
  }
  for (const mailbox::item& i : mailbox_->running) i.fn(i.user);
  mailbox_->running.clear();
  return stop;
}

namespace {

// The two ends of a doubly linked list whose links are members of the items.
template <class List, class Item>
void append(List& list, Item& item, Item* Item::*before, Item* Item::*after) noexcept {
  item.*before = list.last;
  item.*after = nullptr;
  (list.last ? list.last->*after : list.first) = &item;
  list.last = &item;
}

}  // namespace

void event_loop::at_turn_end(turn_end& item) noexcept {
  if (item.in_) return;
  turn_end::list& list = item.last_turn_ == turns() && turns() != 0 ? later_ends_ : ends_;
  append(list, item, &turn_end::before_, &turn_end::after_);
  item.in_ = &list;
}

void event_loop::forget_turn_end(turn_end& item) noexcept {
  if (!item.in_) return;
  (item.before_ ? item.before_->after_ : item.in_->first) = item.after_;
  (item.after_ ? item.after_->before_ : item.in_->last) = item.before_;
  item.in_ = nullptr;
}

void event_loop::run_turn_ends() noexcept {
  while (turn_end* const item = ends_.first) {
    forget_turn_end(*item);
    item->last_turn_ = turns();
    item->on_turn_end();
  }
  // Those that asked again are the first of the next turn.
  while (turn_end* const item = later_ends_.first) {
    forget_turn_end(*item);
    append(ends_, *item, &turn_end::before_, &turn_end::after_);
    item->in_ = &ends_;
  }
}

}  // namespace portico::loop
