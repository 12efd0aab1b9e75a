#include "core/loop/workers.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/system.hpp"
#include "core/loop/loop.hpp"

namespace portico::loop {

// The lock guards all of it, and the stage and the links of each job.
struct workers::state {
  std::size_t most_threads;
  std::size_t capacity;
  mutable std::mutex lock;
  std::condition_variable more;
  std::vector<std::thread> threads;
  job* first = nullptr;
  job* last = nullptr;
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::size_t idle = 0;
  bool ending = false;

  void append(job& j) noexcept {
    j.stage_ = job::stage::queued;
    j.before_ = last;
    j.after_ = nullptr;
    (last ? last->after_ : first) = &j;
    last = &j;
    ++waiting;
  }

  void take_out(job& j) noexcept {
    (j.before_ ? j.before_->after_ : first) = j.after_;
    (j.after_ ? j.after_->before_ : last) = j.before_;
    --waiting;
  }
};

workers::workers(std::size_t threads, std::size_t capacity) : state_(std::make_unique<state>()) {
  state_->most_threads = threads;
  state_->capacity = capacity;
  state_->threads.reserve(threads);
}

workers::~workers() {
  {
    const std::lock_guard hold(state_->lock);
    state_->ending = true;
  }
  state_->more.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

base::status workers::run(job& j) noexcept {
  state& s = *state_;
  const std::lock_guard hold(s.lock);
  if (j.stage_ != job::stage::idle) return base::state;
  // Each idle thread is as good as taken by one of the jobs that wait.
  if (s.waiting >= s.idle + s.capacity) return base::limit;
  if (s.waiting >= s.idle && s.threads.size() < s.most_threads) {
    try {
      s.threads.emplace_back([&s] { serve(s); });
      ++s.idle;
    } catch (const std::system_error&) {
      if (s.threads.empty()) return base::failed;  // else those that run will come to it
    }
  }
  j.home_ = event_loop::current();
  j.result_ = base::ok;
  s.append(j);
  s.more.notify_one();
  return base::ok;
}

void workers::cancel(job& j) noexcept {
  {
    const std::lock_guard hold(state_->lock);
    if (j.stage_ != job::stage::queued) return;
    state_->take_out(j);
    j.stage_ = job::stage::running;  // until done has been called, it may not be run again
    j.result_ = base::cancelled;
  }
  finish(j);
}

// Any thread.  done may run the job again or destroy it, so it is called last, from values of our own.
void workers::finish(job& j) noexcept {
  j.home_->post(
      [](void* user) {
        job& ended = *static_cast<job*>(user);
        ended.stage_ = job::stage::idle;
        ended.done_(ended.user_, ended.result_);
      },
      &j);
}

void workers::serve(state& s) noexcept {
  base::name_this_thread("worker");
  std::unique_lock hold(s.lock);
  for (;;) {  // here it counts as idle, from its start on
    s.more.wait(hold, [&s] { return s.ending || s.first; });
    --s.idle;
    if (s.ending) return;
    job& j = *s.first;
    s.take_out(j);
    j.stage_ = job::stage::running;
    ++s.running;
    hold.unlock();
    try {
      j.on_pool_(j.user_);
    } catch (...) {
      j.result_ = base::failed;
    }
    finish(j);
    hold.lock();
    --s.running;
    ++s.idle;
  }
}

std::size_t workers::waiting() const noexcept {
  const std::lock_guard hold(state_->lock);
  return state_->waiting;
}

std::size_t workers::running() const noexcept {
  const std::lock_guard hold(state_->lock);
  return state_->running;
}

}  // namespace portico::loop
