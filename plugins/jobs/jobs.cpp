#include "plugins/jobs/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <portico/work.hpp>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/jobs/idempotency.hpp"
#include "plugins/jobs/rejection.hpp"
#include "plugins/jobs/submission.hpp"

namespace jobs {
namespace {

using namespace std::chrono_literals;
using portico::http_error;
using portico::request;
using portico::response;
using portico::task;

constexpr std::size_t long_body = 1u << 20;  // from here on reading it would hold up the loop
constexpr std::size_t looked_at_together = 100;
constexpr std::size_t kept_beside_archive = 1000;  // jobs that ended lately, which are asked for most

http_error no_such_job() { return http_error(404, comfy::code::not_found, "there is no job of this id"); }

http_error queue_full(const char* message) {
  return http_error(429, comfy::code::queue_full, message).header("retry-after", "5");
}

job_id id_of(const request& req) {
  const std::optional<job_id> id = parse_job_id(req.param("id"));
  if (!id) throw no_such_job();
  return *id;
}

// Else ComfyUI may have taken the job.
bool nothing_was_sent(int32_t code) {
  return code != PORTICO_E_CLOSED && code != PORTICO_E_TIMEOUT && code != PORTICO_E_PROTOCOL &&
         code != PORTICO_E_CANCELLED;
}

registry::bounds bounds_of(const portico::host& h) {
  registry::bounds b;
  b.jobs = static_cast<std::size_t>(h.integer("max_jobs"));
  b.graph_bytes = static_cast<std::size_t>(h.bytes("workflow_budget"));
  b.retention_us = std::chrono::microseconds(h.duration("retention")).count();
  return b;
}

tracker::timing timing_of(const portico::host& h) {
  tracker::timing t;
  t.share = 250ms;
  t.throttle = h.duration("event_interval");
  t.poll = h.duration("poll_interval");
  return t;
}

}  // namespace

jobs_plugin::jobs_plugin(portico::host h)
    : plugin(h),
      max_body_(static_cast<std::size_t>(h.integer("max_upload_mb") + 1) << 20),
      keys_(static_cast<std::size_t>(h.integer("max_keys"))),
      registry_(bounds_of(h)),
      assets_(server()),
      archive_(server()),
      comfyui_(server(), server().text("upstream")),
      mail_(server()),
      client_id_(to_text(ids_.next())),
      tracker_(server(), comfyui_, registry_, assets_, archive_, mail_, timing_of(h),
               [this](task<> t) { spawn(std::move(t)); }),
      feed_(server(), tracker_, [this](task<> t) { spawn(std::move(t)); }) {}

void jobs_plugin::start() {
  assets_.connect();
  archive_.connect();
  define_metrics();
  tracker_.on_queue_change = [this](steady::time_point since) { feed_.expect_status(since); };
  tracker_.on_end = [this](status) { ended_.record(); };
  const int64_t limit = static_cast<int64_t>(max_body_);
  route("POST", "/api/v2/jobs", &jobs_plugin::submit, limit);
  route("GET", "/api/v2/jobs", &jobs_plugin::list);
  route("GET", "/api/v2/jobs/{id}", &jobs_plugin::get);
  route("GET", "/api/v2/jobs/{id}/workflow", &jobs_plugin::workflow);
  route("POST", "/api/v2/jobs/{id}/cancel", &jobs_plugin::cancel);
  portico::publish(server(), COMFY_JOBS, service_table, this);
  if (archive_) resume_from_archive();
  spawn(feed_.run(comfyui_.feed_url(client_id_)));
  spawn(tracker_.poll());
}

// ComfyUI still sends what it has to say of its jobs to the client id under which they were submitted.
void jobs_plugin::resume_from_archive() {
  client_id_ = archive_.value("client_id", client_id_);
  registry_.keep_recent(kept_beside_archive);
  registry_.created_before(archive_.last_created_us());
  std::size_t resumed = 0;
  archive_.each_open([&](job_ptr j, bool doubtful) {
    if (!registry_.add(j)) return;  // it is found in the archive when somebody asks for it
    tracker_.resumed(j, doubtful);
    ++resumed;
  });
  if (resumed)
    server().log(portico::level::info, "goes on with " + std::to_string(resumed) + " jobs of before the restart");
}

void jobs_plugin::define_metrics() {
  const portico::host& h = server();
  submitted_ = portico::metric::counter(h, "jobs_submitted_total", "Jobs that ComfyUI took.");
  ended_ = portico::metric::counter(h, "jobs_ended_total", "Jobs whose end was seen.");
  viewers_ = portico::metric::gauge(h, "job_subscriptions", "Subscriptions to the events of a job.");
  feed_.connects = portico::metric::counter(h, "live_feed_connects_total", "Attempts to open the live feed.");
}

void jobs_plugin::on_tracker(std::function<void()> f) {
  if (server().loop_index() == static_cast<int32_t>(tracker::loop)) return f();
  auto* posted = new std::function<void()>(std::move(f));
  const auto run = [](void* user) noexcept {
    const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(user));
    (*mine)();
  };
  server().raw()->post(server().raw(), tracker::loop, run, posted);
}

response jobs_plugin::answer_with(const job& j, int status, const request& req) const {
  std::string body;
  j.append(body, req.base_url(), now_us());
  return response::json(status, std::move(body));
}

task<response> jobs_plugin::submit(request& req) {
  std::string body = co_await req.body(max_body_);
  submission s;
  if (body.size() < long_body)
    s = read_submission(body);
  else
    co_await portico::work(req, [&] { s = read_submission(body); });
  const std::shared_ptr<const std::string> graph = co_await resolve(s.graph, s.references);
  std::string().swap(body);
  s.graph = {};
  const std::optional<std::string> header = read_idempotency_key(req.head().headers, req.head().header_count);
  const std::string key = header.value_or("");
  const job_ptr j = co_await record(s, graph, key);
  co_await hand_over(j, graph, s.extra_data, key);
  std::string answer;
  j->append_as_submitted(answer, req.base_url());
  co_return response::json(201, std::move(answer));
}

task<std::shared_ptr<const std::string>> jobs_plugin::resolve(std::string_view graph,
                                                              std::vector<reference> references) {
  if (references.empty()) co_return std::make_shared<const std::string>(graph);
  const std::vector<std::string> texts = co_await assets_.resolve(references);
  co_return std::make_shared<const std::string>(replace_references(graph, references, texts));
}

void jobs_plugin::claim(const std::string& key) {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(steady::now() - began_);
  switch (keys_.claim(key, static_cast<std::uint32_t>(age.count()))) {
    case key_table::outcome::claimed:
      return;
    case key_table::outcome::taken:
      throw key_taken();
    case key_table::outcome::full:
      throw queue_full("too many Idempotency-Keys of the last 24 hours are remembered");
  }
}

// Claims the key and writes the job down, both or neither.
task<jobs_plugin::job_ptr> jobs_plugin::record(submission& s, std::shared_ptr<const std::string> graph,
                                               std::string key) {
  if (!key.empty() && !archive_) claim(key);
  auto j = std::make_shared<job>(ids_.next(), registry_.next_created_us(), std::move(graph), s.node_count,
                                 std::move(s.metadata), s.priority);
  if (!registry_.add(j)) {
    if (!key.empty() && !archive_) keys_.release(key);
    throw queue_full("too many jobs are waiting");
  }
  if (!archive_) co_return j;
  std::exception_ptr failure;
  try {
    co_await archive_.submit(j, key);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    registry_.forget(*j);
    std::rethrow_exception(failure);
  }
  co_return j;
}

// ComfyUI does not have it.  Whoever is told so finds it gone, and the key free, after an end without notice, too.
task<> jobs_plugin::take_back(job_ptr j, std::string key, bool keep_key) {
  if (archive_)
    co_await archive_.removed(j->id(), keep_key);
  else if (!key.empty() && !keep_key)
    keys_.release(key);
  registry_.forget(*j);
}

// To ComfyUI.  No client's going interrupts it: what ComfyUI was told must be remembered.
task<> jobs_plugin::hand_over(job_ptr j, std::shared_ptr<const std::string> graph, std::string extra_data,
                              std::string key) {
  const steady::time_point begun = steady::now();
  comfyui::reply reply;
  std::optional<portico::error> failure;
  try {
    reply = co_await comfyui_.prompt(std::move(graph), std::string(j->text_id()), client_id_, std::move(extra_data));
  } catch (const portico::error& e) {
    failure = e;
  }
  if (!failure && reply.status == 200) {
    submitted_.record();
    if (archive_) archive_.accepted(*j);
    on_tracker([this, j, begun] { tracker_.accepted(j, begun); });
    co_return;
  }
  if (!failure && reply.status >= 400 && reply.status < 500) {
    co_await take_back(j, key, false);
    throw read_rejection(reply.status, reply.body);
  }
  if (failure && nothing_was_sent(failure->code())) {
    co_await take_back(j, key, true);  // the key stays claimed all the same, as clients know it
    throw_upstream_failure(*failure);
  }
  // It may run: it stays recorded, and ComfyUI is asked until it is clear.
  on_tracker([this, j] { tracker_.doubtful(j); });
  if (failure) throw_upstream_failure(*failure);
  throw_upstream_error("ComfyUI answered " + std::to_string(reply.status) +
                       "; it may have taken the job: list your jobs to see");
}

task<response> jobs_plugin::get(request& req) {
  const job_id id = id_of(req);
  job_ptr j = co_await find(id);
  if (!j || !j->fresh(steady::now())) j = co_await up_to_date(id);
  if (!j) throw no_such_job();
  co_return answer_with(*j, 200, req);
}

task<jobs_plugin::job_ptr> jobs_plugin::find(job_id id) {
  job_ptr j = registry_.find(id);
  if (!j && archive_) j = adopt(co_await archive_.find(id, false));
  co_return j;
}

// What has not ended is followed here, as one and the same job for all who ask.
jobs_plugin::job_ptr jobs_plugin::adopt(job_ptr restored) {
  if (!restored || restored->ended()) return restored;
  if (job_ptr present = registry_.find(restored->id())) return present;
  registry_.add(restored);
  return restored;
}

task<std::vector<jobs_plugin::job_ptr>> jobs_plugin::newest(std::int64_t before_us, std::size_t n,
                                                            const std::vector<status>& wanted) {
  if (!archive_) co_return registry_.newest(before_us, n);
  std::vector<job_ptr> jobs = co_await archive_.newest(before_us, n, wanted);
  for (job_ptr& j : jobs) j = adopt(std::move(j));
  co_return jobs;
}

task<jobs_plugin::job_ptr> jobs_plugin::up_to_date(job_id id) {
  const auto home = static_cast<uint32_t>(server().loop_index());
  co_await portico::move_to(server(), tracker::loop);
  job_ptr j;
  std::exception_ptr failure;
  try {
    j = co_await tracker_.look_up(id);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await portico::move_to(server(), home);
  if (failure) std::rethrow_exception(failure);
  co_return j;
}

task<> jobs_plugin::all_up_to_date(std::vector<job_ptr> jobs) {
  const steady::time_point now = steady::now();
  std::erase_if(jobs, [&](const job_ptr& j) { return j->fresh(now); });
  if (jobs.empty()) co_return;
  const auto home = static_cast<uint32_t>(server().loop_index());
  co_await portico::move_to(server(), tracker::loop);
  std::exception_ptr failure;
  try {
    co_await tracker_.refresh_all(std::move(jobs), false);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await portico::move_to(server(), home);
  if (failure) std::rethrow_exception(failure);
}

task<response> jobs_plugin::list(request& req) {
  const list_query query = read_list_query(req.query("limit", "50"), req.query("status"));
  std::size_t looked_at = 0, found = 0;
  bool more = false;
  std::string body = "{\"jobs\":[";
  for (std::int64_t before = std::numeric_limits<std::int64_t>::max();
       found < query.limit && looked_at < most_looked_at;) {
    // Without a filter all that is looked at is shown.
    const std::size_t step = query.wanted.empty() ? query.limit - found : looked_at_together;
    const std::size_t asked_for = std::min(step, most_looked_at - looked_at);
    const std::vector<job_ptr> jobs = co_await newest(before, asked_for, query.wanted);
    more = jobs.size() == asked_for;
    if (jobs.empty()) break;
    before = jobs.back()->created_us();
    co_await all_up_to_date(jobs);
    for (const job_ptr& j : jobs) {
      ++looked_at;
      if (!query.wants(j->state())) continue;
      if (found) body += ',';
      j->append(body, req.base_url(), now_us());
      if (++found == query.limit) break;
    }
  }
  const bool truncated = found < query.limit && more;
  body.append(truncated ? "],\"truncated\":true}" : "],\"truncated\":false}");
  co_return response::json(200, std::move(body));
}

task<response> jobs_plugin::workflow(request& req) {
  const job_id id = id_of(req);
  const job_ptr j = registry_.find(id);
  std::shared_ptr<const std::string> graph = j ? j->graph() : nullptr;
  if (!graph && archive_)
    if (const job_ptr stored = co_await archive_.find(id, true)) graph = stored->graph();
  if (!graph) throw http_error(404, comfy::code::not_found, "the workflow of this job is not known here");
  std::string body;
  body.reserve(graph->size() + 40);
  body.append("{\"workflow\":").append(*graph).append(",\"format\":\"api\"}");
  co_return response::json(200, std::move(body));
}

task<response> jobs_plugin::cancel(request& req) {
  const job_id id = id_of(req);
  job_ptr j = co_await find(id);
  if (!j) j = co_await up_to_date(id);
  if (!j) throw no_such_job();
  if (!j->ended()) {
    const bool confirmed = co_await comfyui_.cancel(std::string(j->text_id()));
    j = co_await cancel_on_tracker(j, confirmed);
  }
  co_return answer_with(*j, 200, req);
}

task<jobs_plugin::job_ptr> jobs_plugin::cancel_on_tracker(job_ptr j, bool confirmed) {
  const auto home = static_cast<uint32_t>(server().loop_index());
  co_await portico::move_to(server(), tracker::loop);
  std::exception_ptr failure;
  try {
    tracker_.cancelled(j, confirmed);
    co_await tracker_.refresh(j);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await portico::move_to(server(), home);
  if (failure) std::rethrow_exception(failure);
  co_return j;
}

}  // namespace jobs
