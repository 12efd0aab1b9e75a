// plugins/jobs/jobs.hpp - the plugin: routes for submitting jobs and asking after them, and the service comfy.jobs/1.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <portico/plugin.hpp>
#include <portico/service.hpp>
#include <portico/stats.hpp>

#include "plugins/comfy/jobs.h"
#include "plugins/jobs/asset_ids.hpp"
#include "plugins/jobs/comfyui.hpp"
#include "plugins/jobs/feed.hpp"
#include "plugins/jobs/key_table.hpp"
#include "plugins/jobs/list_query.hpp"
#include "plugins/jobs/registry.hpp"
#include "plugins/jobs/tracker.hpp"

namespace jobs {

class jobs_plugin final : public portico::plugin {
 public:
  static constexpr const char* provides[] = {COMFY_JOBS, nullptr};
  static constexpr const char* uses[] = {COMFY_ASSETS, PORTICO_STORE, nullptr};
  static constexpr const char* routes[] = {"POST /api/v2/jobs",
                                           "GET /api/v2/jobs",
                                           "GET /api/v2/jobs/{id}",
                                           "GET /api/v2/jobs/{id}/workflow",
                                           "POST /api/v2/jobs/{id}/cancel",
                                           nullptr};

  explicit jobs_plugin(portico::host);
  void start() override;

  // comfy.jobs/1, see plugins/comfy/jobs.h.
  portico::task<> subscribe(std::string job, std::string base_url, comfy_subscription** out);
  int32_t unsubscribe(comfy_subscription*);

 private:
  using job_ptr = std::shared_ptr<job>;
  portico::task<portico::response> submit(portico::request&);
  portico::task<portico::response> list(portico::request&);
  portico::task<portico::response> get(portico::request&);
  portico::task<portico::response> workflow(portico::request&);
  portico::task<portico::response> cancel(portico::request&);

  // Each of these comes back to the loop it was begun on.
  portico::task<std::shared_ptr<const std::string>> resolve(std::string_view graph, std::vector<reference>);
  portico::task<> hand_over(job_ptr, std::shared_ptr<const std::string> graph, std::string extra_data, std::string key);
  portico::task<job_ptr> up_to_date(job_id);
  portico::task<> all_up_to_date(std::vector<job_ptr>);
  portico::task<job_ptr> cancel_on_tracker(job_ptr, bool confirmed);

  portico::task<job_ptr> record(submission&, std::shared_ptr<const std::string> graph, std::string key);
  portico::task<> take_back(job_ptr, std::string key, bool keep_key);
  void resume_from_archive();
  // A job of this id, here or in the archive; null: in neither.
  portico::task<job_ptr> find(job_id);
  job_ptr adopt(job_ptr restored);
  portico::task<std::vector<job_ptr>> newest(std::int64_t before_us, std::size_t n, const std::vector<status>& wanted);
  void claim(const std::string& key);
  void on_tracker(std::function<void()>);
  void define_metrics();
  portico::response answer_with(const job&, int status, const portico::request&) const;

  const std::size_t max_body_;
  id_source ids_;
  key_table keys_;
  registry registry_;
  asset_ids assets_;
  archive archive_;
  comfyui comfyui_;
  mail mail_;
  std::string client_id_;
  tracker tracker_;
  feed feed_;
  const steady::time_point began_ = steady::now();
  portico::metric submitted_, ended_, viewers_;
};

// The table of comfy.jobs/1, whose self is a jobs_plugin.
extern const comfy_jobs service_table;

}  // namespace jobs
