// plugins/jobs/archive.hpp - what is kept of jobs beyond this process, where a plugin provides portico.store/1.
//
// A job is written down before ComfyUI hears of it, and its end before anybody is told of it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <portico/host.hpp>
#include <portico/service.hpp>
#include <portico/task.hpp>

#include "plugins/comfy/store.h"
#include "plugins/jobs/job.hpp"

namespace jobs {

// Its tasks come back to the loop they were begun on.
class archive {
 public:
  explicit archive(const portico::host& h) : host_(h) {}
  void connect() { store_ = portico::service<portico_store>(host_, PORTICO_STORE); }
  explicit operator bool() const noexcept { return static_cast<bool>(store_); }

  // In start().  initial: what is stored when there is no value of that name.
  std::string value(std::string_view name, std::string initial) const;
  std::int64_t last_created_us() const;
  // Calls back with each job whose end is not known; doubtful: nor whether ComfyUI took it.
  void each_open(const std::function<void(std::shared_ptr<job>, bool doubtful)>&) const;

  // Throws portico::http_error: the key is claimed (422), no space is left (507), it cannot be written (500).
  portico::task<> submit(std::shared_ptr<job>, std::string key) const;
  void accepted(const job&) const;
  // These never throw: what cannot be written is found out again from ComfyUI.
  portico::task<> removed(job_id, bool keep_key) const;
  portico::task<> ended(std::shared_ptr<job>, const ended_job&) const;
  // Null: there is none.
  portico::task<std::shared_ptr<job>> find(job_id, bool with_graph) const;
  // At most n jobs created before that time, newest first: those whose end is not known, and of the others those that
  // ended so. wanted: empty: all.
  portico::task<std::vector<std::shared_ptr<job>>> newest(std::int64_t before_us, std::size_t n,
                                                          std::vector<status> wanted) const;

 private:
  const portico::host& host_;
  portico::service<portico_store> store_;
};

}  // namespace jobs
