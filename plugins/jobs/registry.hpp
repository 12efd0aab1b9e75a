// plugins/jobs/registry.hpp - all jobs this server was given, in memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "plugins/jobs/job.hpp"

namespace jobs {

// Any thread.  Finding a job does not grow with their number, and takes one of sixteen locks.
class registry {
 public:
  struct bounds {
    std::size_t jobs = 50'000;                // beyond it the oldest that ended are forgotten
    std::size_t graph_bytes = 256u << 20;     // beyond it the graphs of the oldest that ended are
    std::int64_t retention_us = 30 * day_us;  // older jobs that ended are forgotten
    std::size_t recent = SIZE_MAX;            // beyond it those that ended are forgotten where that is possible
  };
  explicit registry(const bounds& b) : bounds_(b) {}
  // Jobs that ended are kept elsewhere as well: only so many recent ones need stay here.  Before any other call.
  void keep_recent(std::size_t n) { bounds_.recent = n; }

  // The creation time of the next job: now, but never that of another job.
  std::int64_t next_created_us();
  // So an earlier process called its last one.
  void created_before(std::int64_t us);
  // False, and nothing is added: there is no room, and no job has ended that could make room.
  bool add(const std::shared_ptr<job>&);
  void forget(const job&);
  std::shared_ptr<job> find(const job_id&) const;

  // At most n jobs created before that time, newest first.
  std::vector<std::shared_ptr<job>> newest(std::int64_t before_us, std::size_t n) const;
  std::size_t size() const;
  std::size_t graph_bytes() const;

 private:
  struct shard {
    mutable std::mutex guard;
    std::unordered_map<job_id, std::shared_ptr<job>, job_id_hash> jobs;
  };
  shard& shard_of(const job_id& id) const noexcept { return shards_[id.bytes[15] % shards_.size()]; }
  bool make_room(std::size_t graph_bytes, std::int64_t now_us);
  bool forget_oldest(std::int64_t created_before_us);
  bool drop_oldest_graph();
  void remove(std::map<std::int64_t, std::shared_ptr<job>>::iterator);

  bounds bounds_;
  mutable std::array<shard, 16> shards_;
  mutable std::mutex order_guard_;                      // taken before a shard's
  std::map<std::int64_t, std::shared_ptr<job>> order_;  // by creation
  std::map<std::int64_t, std::size_t> graphs_;          // of the jobs that still have theirs: its bytes
  std::size_t graph_bytes_ = 0;
  std::int64_t last_created_us_ = 0;
};

}  // namespace jobs
