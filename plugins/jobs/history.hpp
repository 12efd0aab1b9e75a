// plugins/jobs/history.hpp - what ComfyUI's /history, /queue and cancel answers say of a job.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plugins/jobs/job_id.hpp"
#include "plugins/jobs/outputs.hpp"

namespace jobs {

// The numbers are stored: a new one goes to the end.
enum class status : std::uint8_t { queued, running, succeeded, canceling, canceled, failed, expired };
std::string_view to_text(status) noexcept;
std::optional<status> parse_status(std::string_view) noexcept;
inline bool is_terminal(status s) noexcept {
  return s != status::queued && s != status::running && s != status::canceling;
}

struct job_error {
  std::string code, message;
  std::optional<std::string> node_id, class_type;
};

// How a job ended.  Times in microseconds since 1970; 0: not known.
struct ending {
  status state = status::succeeded;
  std::int64_t started_us = 0, completed_us = 0;
  std::vector<output> outputs;
  std::optional<job_error> error;
  bool outputs_reused = false;
};

// One reading of /queue.
struct queue_snapshot {
  std::unordered_set<job_id, job_id_hash> running;
  std::unordered_map<job_id, std::uint32_t, job_id_hash> pending;  // position: 1 is next, by ComfyUI's own number
};

// All three throw not_comfyui when the text is not what ComfyUI answers with.
struct not_comfyui {
  std::string what;
};
// Nothing when the job is not in the history.
std::optional<ending> read_history(std::string_view text, std::string_view id);
queue_snapshot read_queue(std::string_view text);
// True when ComfyUI says that it cancelled something.
bool read_cancelled(std::string_view text);

}  // namespace jobs
