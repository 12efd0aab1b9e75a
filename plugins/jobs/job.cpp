#include "plugins/jobs/job.hpp"

#include <algorithm>
#include <utility>

namespace jobs {

job::job(const job_id& id, std::int64_t created_us, std::shared_ptr<const std::string> graph, std::uint32_t nodes,
         std::optional<std::string> metadata, std::optional<std::int32_t> priority)
    : id_(id),
      text_id_{},
      created_us_(created_us),
      nodes_(nodes),
      priority_(priority),
      metadata_(std::move(metadata)),
      graph_(std::move(graph)) {
  const std::string text = to_text(id);
  std::copy(text.begin(), text.end(), text_id_.begin());
  live_->now.nodes_total = nodes;
}

status job::shown(const live& l) const noexcept {
  if (l.gone) return status::expired;
  return l.canceling ? status::canceling : l.state;
}

job_facts job::facts() const noexcept {
  job_facts f;
  f.id = text_id();
  f.created_us = created_us_;
  f.metadata = &metadata_;
  f.priority = priority_;
  return f;
}

bool job::forgettable() const {
  const std::lock_guard lock(guard_);
  return !live_ || live_->gone;
}

bool job::fresh(steady::time_point now) const {
  const std::lock_guard lock(guard_);
  return !live_ || now < live_->fresh_until;
}

status job::state() const {
  const std::lock_guard lock(guard_);
  return live_ ? shown(*live_) : final_;
}

bool job::submitting() const {
  const std::lock_guard lock(guard_);
  return live_ && live_->submitting;
}

void job::append(std::string& out, std::string_view base_url, std::int64_t now_us) const {
  const std::lock_guard lock(guard_);
  if (!live_) return render(out, text_, base_url, now_us);
  const live& l = *live_;
  job_facts f = facts();
  f.state = shown(l);
  f.started_us = l.started_us;
  f.outputs_reused = l.outputs_reused;
  if (f.state == status::queued) f.queue_position = l.position;
  if (f.state == status::running) f.running = &l.now;
  std::string text;
  append_job(text, f, l.outputs);
  render(out, text, base_url, now_us);
}

void job::append_as_submitted(std::string& out, std::string_view base_url) const {
  std::string text;
  append_job(text, facts(), {});
  render(out, text, base_url, created_us_);
}

std::shared_ptr<const std::string> job::graph() const {
  const std::lock_guard lock(guard_);
  return graph_;
}

std::vector<std::string> job::outputs() const {
  const std::lock_guard lock(guard_);
  if (live_) return live_->outputs;
  return outputs_in(text_);
}

std::optional<std::uint32_t> job::queue_position() const {
  const std::lock_guard lock(guard_);
  return live_ && shown(*live_) == status::queued ? live_->position : std::nullopt;
}

std::int64_t job::started_us() const {
  const std::lock_guard lock(guard_);
  return live_ ? live_->started_us : ended_started_us_;
}

void job::drop_graph() {
  const std::lock_guard lock(guard_);
  graph_.reset();
}

void job::accepted() {
  change([](live& l) { l.submitting = false; });
}

void job::queued(std::optional<std::uint32_t> position) {
  change([&](live& l) {
    l.submitting = l.gone = false;
    l.state = status::queued;
    l.position = position;
  });
}

void job::running() {
  change([](live& l) {
    l.submitting = l.gone = false;
    l.state = status::running;
    l.position.reset();
  });
}

void job::started(std::int64_t us) {
  change([&](live& l) { l.started_us = us; });
}

void job::canceling() {
  change([](live& l) { l.canceling = true; });
}

void job::cancel_confirmed() {
  change([](live& l) { l.canceling = l.cancel_confirmed = true; });
}

bool job::is_cancel_confirmed() const {
  const std::lock_guard lock(guard_);
  return live_ && live_->cancel_confirmed;
}

bool job::is_canceling() const {
  const std::lock_guard lock(guard_);
  return live_ && live_->canceling;
}

void job::gone() {
  change([](live& l) { l.gone = true; });
}

void job::made_progress(const progress& p) {
  change([&](live& l) { l.now = p; });
}

void job::reused_outputs() {
  change([](live& l) { l.outputs_reused = true; });
}

void job::add_output(std::string text) {
  change([&](live& l) { l.outputs.push_back(std::move(text)); });
}

void job::fresh_until(steady::time_point t) {
  change([&](live& l) { l.fresh_until = t; });
}

ended_job job::ended_as(const ending& how, const std::vector<std::string>& outputs) const {
  job_facts f = facts();
  f.state = how.state;
  f.started_us = how.started_us ? how.started_us : started_us();
  f.completed_us = how.completed_us;
  f.error = how.error ? &*how.error : nullptr;
  f.outputs_reused = how.outputs_reused;
  std::string text;
  append_job(text, f, outputs);
  return {f.state, f.started_us, std::move(text)};
}

void job::end(ended_job how) {
  const std::lock_guard lock(guard_);
  if (!live_) return;
  text_ = std::move(how.text);
  text_.shrink_to_fit();
  final_ = how.state;
  ended_started_us_ = how.started_us;
  live_.reset();
  ended_.store(true, std::memory_order_release);
}

}  // namespace jobs
