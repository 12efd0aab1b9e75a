// What viewers of a job are told, and when.
#include <portico/timer.hpp>
#include <utility>

#include "plugins/jobs/job_text.hpp"
#include "plugins/jobs/tracker.hpp"

namespace jobs {

using portico::task;

void tracker::tell(const entry& e, const event& what) {
  for (const std::shared_ptr<channel>& viewer : e.viewers) mail_.send(viewer, what);
}

void tracker::tell_status(entry& e) {
  const status now = e.record->state();
  const std::optional<std::uint32_t> position = e.record->queue_position();
  if (now == e.told && position == e.told_position) return;
  e.told = now;
  e.told_position = position;
  if (!e.viewers.empty()) tell(e, make_event(COMFY_EVENT_STATUS, status_event(now, position)));
}

void tracker::tell_progress(entry& e) {
  std::string text;
  append_progress(text, e.meter.now());
  tell(e, make_event(COMFY_EVENT_PROGRESS, std::move(text)));
}

void tracker::tell_preview(entry& e) {
  tell(e, make_event(COMFY_EVENT_PREVIEW, preview_event(e.preview_node, e.preview_type, e.preview_image)));
}

void tracker::offer_progress(const entry_ptr& e) {
  if (e->viewers.empty()) return;
  const auto verdict = e->progress_gate.offer(steady::now());
  if (verdict == throttle::verdict::now) tell_progress(*e);
  if (verdict == throttle::verdict::later) spawn_(tell_later(e, &entry::progress_gate, &tracker::tell_progress));
}

void tracker::offer_preview(const entry_ptr& e) {
  if (e->viewers.empty()) return;
  const auto verdict = e->preview_gate.offer(steady::now());
  if (verdict == throttle::verdict::now) tell_preview(*e);
  if (verdict == throttle::verdict::later) spawn_(tell_later(e, &entry::preview_gate, &tracker::tell_preview));
}

task<> tracker::tell_later(entry_ptr e, throttle entry::*gate, void (tracker::*what)(entry&)) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>((*e.*gate).due() - steady::now());
  co_await portico::sleep(host_, left);
  if ((*e.*gate).flush(steady::now()) && !e->record->ended()) (this->*what)(*e);
}

void tracker::begin_story(entry& e, const std::shared_ptr<channel>& viewer) {
  const status now = e.told = e.record->state();
  e.told_position = e.record->queue_position();
  mail_.send(viewer, make_event(COMFY_EVENT_STATUS, status_event(now, e.told_position)));
  if (now == status::running) {
    std::string text;
    append_progress(text, e.meter.now());
    mail_.send(viewer, make_event(COMFY_EVENT_PROGRESS, std::move(text)));
  }
  if (!e.preview_image.empty())
    mail_.send(viewer, make_event(COMFY_EVENT_PREVIEW, preview_event(e.preview_node, e.preview_type, e.preview_image)));
  for (std::string& output : e.record->outputs()) mail_.send(viewer, make_event(COMFY_EVENT_OUTPUT, std::move(output)));
  e.viewers.push_back(viewer);
}

void tracker::end_story(const entry_ptr& e, status last) {
  tell(*e, make_event(COMFY_EVENT_STATUS, status_event(last, std::nullopt), true));
  e->viewers.clear();
  e->preview_image.clear();
}

std::vector<event> tracker::story_of_ended(const job& j) {
  std::vector<event> story;
  for (std::string& output : j.outputs()) story.push_back(make_event(COMFY_EVENT_OUTPUT, std::move(output)));
  story.push_back(make_event(COMFY_EVENT_STATUS, status_event(j.state(), std::nullopt), true));
  return story;
}

std::string tracker::output_text(const job& j, const output& o, std::string& id) const {
  id = assets_.mint(j.text_id(), o);
  std::string text;
  append_output(text, o, id, j.text_id());
  return text;
}

}  // namespace jobs
