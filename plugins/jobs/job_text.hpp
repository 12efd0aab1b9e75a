// plugins/jobs/job_text.hpp - jobs and outputs as the contract's JSON.
//
// Links begin with the address that the client used, and an output's link is said to last a day from each reading.  So
// a text is kept as a template, in which two control characters, which JSON never holds, mark those places.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/jobs/history.hpp"
#include "plugins/jobs/outputs.hpp"
#include "plugins/jobs/progress.hpp"

namespace jobs {

inline constexpr char base_url_mark = '\x01', expiry_mark = '\x02';

// Appends the template with its marks filled in.  base_url: "http://host:port".
void render(std::string& out, std::string_view text, std::string_view base_url, std::int64_t now_us);

// Appends the Output object of a job.  asset_id is opaque.
void append_output(std::string& out, const output&, std::string_view asset_id, std::string_view job_id);

// All that a Job object says, except its outputs.
struct job_facts {
  std::string_view id;
  status state = status::queued;
  std::int64_t created_us = 0, started_us = 0, completed_us = 0;  // 0: null
  std::optional<std::uint32_t> queue_position;
  const progress* running = nullptr;
  const job_error* error = nullptr;
  bool outputs_reused = false;
  const std::optional<std::string>* metadata = nullptr;
  std::optional<std::int32_t> priority;
};
// Appends a Job; outputs: templates of Output objects.
void append_job(std::string& out, const job_facts&, const std::vector<std::string>& outputs);

// The templates of the outputs in a Job object's.
std::vector<std::string> outputs_in(std::string_view job);

// The data of a status event.
std::string status_event(status, std::optional<std::uint32_t> queue_position);

}  // namespace jobs
