// core/loop/workers.hpp - the one bounded pool of threads for work that blocks: files, databases, name lookup, hashing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/status.hpp"

namespace portico::loop {

class event_loop;

// One piece of work; the caller's storage until done has been called.  Then it may be run again, or destroyed; also
// from inside done.
class job {
 public:
  // on_pool runs on a pool thread and may block.  done runs later on the loop that ran it, and sees all on_pool wrote.
  job(void (*on_pool)(void*), base::completion done, void* user) noexcept
      : on_pool_(on_pool), done_(done), user_(user) {}
  job(const job&) = delete;
  job& operator=(const job&) = delete;

 private:
  friend class workers;
  enum class stage : std::uint8_t { idle, queued, running };
  void (*on_pool_)(void*);
  base::completion done_;
  void* user_;
  event_loop* home_ = nullptr;
  job* before_ = nullptr;  // in the queue
  job* after_ = nullptr;
  stage stage_ = stage::idle;
  base::status result_ = base::ok;
};

class workers {
 public:
  // threads: 1 or more; capacity: how many jobs may wait, 1 or more.  A thread starts when a job finds none idle.  A
  // loop must not be destroyed while a job of it is here.
  workers(std::size_t threads, std::size_t capacity);
  ~workers();  // waits for what runs; what waits is dropped, done is not called
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  // On a loop.  base::ok, and done(user, ok) comes on this loop, or done(user, failed) when on_pool threw.  Else done
  // never comes: base::limit when capacity jobs wait already; base::state when this job has not ended; base::failed
  // when the system gives no thread.
  base::status run(job&) noexcept;
  // On the job's loop.  Still waiting: on_pool is never called and done(user, cancelled) comes.  Else no effect.
  void cancel(job&) noexcept;

  std::size_t waiting() const noexcept;  // any thread
  std::size_t running() const noexcept;  // any thread

 private:
  struct state;
  static void serve(state&) noexcept;
  static void finish(job&) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace portico::loop
