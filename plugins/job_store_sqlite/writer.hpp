// plugins/job_store_sqlite/writer.hpp - the one thread that writes.
//
// What waits when it comes to look is committed together: one fsync for all of it, and nobody waits longer than for the
// commit before and its own.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include <portico/host.hpp>

#include "plugins/job_store_sqlite/database.hpp"
#include "plugins/job_store_sqlite/tables.hpp"

namespace job_store {

class writer {
 public:
  // Runs inside a transaction; what it returns is the status of its completion.
  using action = std::function<std::int32_t(writes&)>;

  // retention: of jobs that ended, in microseconds.
  writer(const portico::host&, Poco::Data::Session, std::int64_t retention);
  // Commits what waits.
  ~writer();
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  // Any thread for those without `done`; a loop for those with, and there it completes.  In the order of calls.
  void add(action, portico_done = nullptr, void* user = nullptr);

 private:
  struct job {
    action what;
    portico_done done;
    void* user;
    std::int32_t loop;
    std::int32_t status = PORTICO_E_FAILED;
  };
  using batch = std::deque<job>;
  void run();
  void commit(batch&);
  bool commit_together(batch&);
  void commit_alone(job&);
  void complete(job&);
  void sweep();
  void complain(const std::exception&);

  const portico::host host_;
  const std::int64_t retention_;
  Poco::Data::Session session_;
  writes tables_;
  std::mutex guard_;
  std::condition_variable woken_;
  batch waiting_;
  bool over_ = false;
  std::chrono::steady_clock::time_point sweep_at_, complained_at_{};
  std::thread thread_;  // the last member: it uses the others
};

// Microseconds since 1970-01-01 UTC.
std::int64_t now_us();

}  // namespace job_store
