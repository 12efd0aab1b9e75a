// plugins/jobs/job.hpp - one job: what was submitted, what is known of it, and in the end how it ended.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/jobs/clock.hpp"
#include "plugins/jobs/history.hpp"
#include "plugins/jobs/job_id.hpp"
#include "plugins/jobs/job_text.hpp"
#include "plugins/jobs/progress.hpp"

namespace jobs {

// How a job ended, as it is kept: ready to be answered with.
struct ended_job {
  ended_job(status s, std::int64_t started, std::string t) : state(s), started_us(started), text(std::move(t)) {}
  status state;
  std::int64_t started_us;
  std::string text;  // the Job object's template
};

// Readers are on any thread.  It is written by the tracker, on its loop only, so that what one writer reads there does
// not change under it.  A job that has ended never changes again, and holds little more than the text it is answered
// with.
class job {
 public:
  // graph: as it is sent to ComfyUI; may be null when it is not known.
  job(const job_id&, std::int64_t created_us, std::shared_ptr<const std::string> graph, std::uint32_t nodes,
      std::optional<std::string> metadata, std::optional<std::int32_t> priority);

  const job_id& id() const noexcept { return id_; }
  std::string_view text_id() const noexcept { return {text_id_.data(), text_id_.size()}; }
  std::int64_t created_us() const noexcept { return created_us_; }
  std::uint32_t nodes() const noexcept { return nodes_; }
  const std::optional<std::string>& metadata() const noexcept { return metadata_; }
  std::optional<std::int32_t> priority() const noexcept { return priority_; }

  // Readers.
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  bool forgettable() const;                  // it ended, or ComfyUI was last seen not to know it
  bool fresh(steady::time_point now) const;  // what is known may be given out without asking ComfyUI
  status state() const;
  bool submitting() const;  // ComfyUI has not yet said that it took the job
  void append(std::string& out, std::string_view base_url, std::int64_t now_us) const;  // the Job object
  void append_as_submitted(std::string& out, std::string_view base_url) const;          // as the answer to its POST
  std::shared_ptr<const std::string> graph() const;
  std::vector<std::string> outputs() const;  // templates
  std::optional<std::uint32_t> queue_position() const;
  std::int64_t started_us() const;
  void drop_graph();

  // Writers.  Each does nothing once the job has ended.
  void accepted();
  void queued(std::optional<std::uint32_t> position);
  void running();
  void started(std::int64_t us);
  void canceling();
  void cancel_confirmed();
  bool is_cancel_confirmed() const;
  bool is_canceling() const;
  void gone();  // ComfyUI does not know it
  void made_progress(const progress&);
  void reused_outputs();
  void add_output(std::string text);
  void fresh_until(steady::time_point);
  ended_job ended_as(const ending&, const std::vector<std::string>& outputs) const;  // outputs: templates
  void end(ended_job);

 private:
  struct live {
    bool submitting = true, canceling = false, cancel_confirmed = false, gone = false, outputs_reused = false;
    status state = status::queued;
    std::optional<std::uint32_t> position;
    std::int64_t started_us = 0;
    progress now;
    std::vector<std::string> outputs;
    steady::time_point fresh_until{};
  };
  status shown(const live&) const noexcept;
  job_facts facts() const noexcept;
  template <class F>
  void change(F&& f) {
    const std::lock_guard lock(guard_);
    if (live_) f(*live_);
  }

  const job_id id_;
  std::array<char, 36> text_id_;
  const std::int64_t created_us_;
  const std::uint32_t nodes_;
  const std::optional<std::int32_t> priority_;
  const std::optional<std::string> metadata_;
  std::atomic<bool> ended_{false};
  mutable std::mutex guard_;
  std::shared_ptr<const std::string> graph_;
  std::unique_ptr<live> live_ = std::make_unique<live>();  // null once it ended
  status final_ = status::queued;
  std::int64_t ended_started_us_ = 0;
  std::string text_;  // once it ended: the Job object's template
};

}  // namespace jobs
