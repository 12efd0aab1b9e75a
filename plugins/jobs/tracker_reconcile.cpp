// Asking ComfyUI what became of a job.
//
// The queue is read first: ComfyUI takes a job out of it and puts it into the history in one step, so a job that is in
// neither, looked for in this order, cannot have moved from one to the other in between.
#include <algorithm>
#include <chrono>
#include <portico/response.hpp>
#include <portico/timer.hpp>
#include <utility>

#include "plugins/jobs/tracker.hpp"

namespace jobs {
namespace {

using namespace std::chrono_literals;
using portico::task;

constexpr std::size_t at_a_time = 8;  // histories read side by side
constexpr auto settle_within = 60s;

}  // namespace

// From now on nothing that was asked before is good enough.
void tracker::touch(entry& e) noexcept {
  e.changed = steady::now();
  e.record->fresh_until({});
}

task<> tracker::bring_up_to_date(entry_ptr e, bool look_twice) {
  const steady::time_point now = steady::now();
  if (e->record->fresh(now)) co_return;
  ++e->users;
  std::exception_ptr failure;
  try {
    if (e->flying && e->flying_since >= e->changed) {
      const std::shared_ptr<flight> joined = e->flying;
      co_await joined->wait();
    } else {
      const auto own = std::make_shared<flight>(host_);
      e->flying = own;
      e->flying_since = now;
      try {
        co_await ask(e, now, look_twice);
      } catch (...) {
        failure = std::current_exception();
      }
      if (e->flying == own) e->flying.reset();
      own->land(failure);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  --e->users;
  drop_if_idle(e);
  if (failure) std::rethrow_exception(failure);
}

task<> tracker::ask(entry_ptr e, steady::time_point begun, bool look_twice) {
  if (e->over && co_await ended_in_history(e)) co_return;
  const std::shared_ptr<const reading> queue = co_await queue_since(std::max(e->changed, begun - timing_.share));
  const job_id& id = e->record->id();
  if (e->record->ended() || queue->snapshot->running.contains(id) || queue->snapshot->pending.contains(id)) co_return;
  if (co_await ended_in_history(e)) co_return;
  if (look_twice && co_await ended_in_history(e)) co_return;
  if (e->changed <= begun) co_await is_absent(e);  // else something happened meanwhile, and this answer is of before
}

task<bool> tracker::ended_in_history(entry_ptr e) {
  if (e->record->ended()) co_return true;
  const std::string id(e->record->text_id());
  std::optional<ending> how = co_await comfyui_.history(id);
  if (how) co_await finish(e, std::move(*how));
  co_return e->record->ended();
}

// A reading that was begun at that moment or later, shared by all who ask.
task<std::shared_ptr<const tracker::reading>> tracker::queue_since(steady::time_point wanted) {
  if (latest_ && latest_->begun >= wanted && steady::now() - latest_->received <= timing_.share) co_return latest_;
  if (reading_ && reading_->begun >= wanted) {
    const std::shared_ptr<reading> joined = reading_;
    co_await joined->wait();
    co_return joined;
  }
  const auto own = std::make_shared<reading>(host_);
  own->begun = steady::now();
  reading_ = own;
  std::exception_ptr failure;
  try {
    own->snapshot = co_await comfyui_.queue();
  } catch (...) {
    failure = std::current_exception();
  }
  own->received = steady::now();
  if (reading_ == own) reading_.reset();
  if (!failure) {
    if (!latest_ || latest_->begun < own->begun) latest_ = own;
    read_off(*own);
  }
  own->land(failure);
  if (failure) std::rethrow_exception(failure);
  co_return own;
}

// Every job that the queue holds is up to date with this.
void tracker::read_off(const reading& queue) {
  const auto current = [&](const job_id& id) -> entry_ptr {
    const auto i = entries_.find(id);
    if (i == entries_.end() || i->second->changed > queue.begun || i->second->record->ended()) return nullptr;
    i->second->alive = queue.begun;
    i->second->record->fresh_until(queue.received + timing_.share);
    return i->second;
  };
  for (const job_id& id : queue.snapshot->running)
    if (const entry_ptr e = current(id)) is_running(e);
  for (const auto& [id, position] : queue.snapshot->pending) {
    const entry_ptr e = current(id);
    if (!e) continue;
    e->record->queued(position);
    e->doubt.reset();
    tell_status(*e);
  }
}

void tracker::is_running(const entry_ptr& e) {
  e->record->running();
  e->doubt.reset();
  tell_status(*e);
}

task<> tracker::is_absent(entry_ptr e) {
  job& j = *e->record;
  if (j.ended()) co_return;
  if (j.is_cancel_confirmed()) {  // one that waited leaves no trace
    ending how;
    how.state = status::canceled;
    how.completed_us = now_us();
    co_return co_await finish(e, std::move(how));
  }
  if (e->doubt && steady::now() - *e->doubt >= submission_may_take) {
    ending how;
    how.state = status::failed;
    how.error = job_error{"submission_lost", "ComfyUI never said that it took this job, and does not know it", {}, {}};
    co_return co_await finish(e, std::move(how));
  }
  if (j.submitting()) co_return;
  j.gone();
  e->told = status::expired;
  end_story(e, status::expired);
}

task<> tracker::finish(entry_ptr e, ending how) {
  const std::shared_ptr<job> j = e->record;
  if (j->ended()) co_return;
  std::vector<std::string> texts, ids;
  for (const output& o : how.outputs) texts.push_back(output_text(*j, o, ids.emplace_back()));
  ended_job as = j->ended_as(how, texts);
  if (archive_ && !e->foreign) co_await archive_.ended(j, as);  // nobody is told what could be forgotten
  if (j->ended()) co_return;
  if (e->progress_gate.flush(steady::now())) tell_progress(*e);
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (e->told_outputs.insert(ids[i]).second) tell(*e, make_event(COMFY_EVENT_OUTPUT, texts[i]));
  j->end(std::move(as));
  end_story(e, how.state);
  if (e->alive != steady::time_point{}) on_queue_change(e->alive);
  if (!e->foreign) on_end(how.state);
  drop_if_idle(e);
}

// The feed said that the job ended: read until the history has it, quickly at first.
task<> tracker::settle(entry_ptr e) {
  const steady::time_point begun = steady::now();
  for (auto pause = 10ms; !e->record->forgettable() && steady::now() - begun < settle_within;
       pause = std::min(pause * 2, 1000ms)) {
    try {
      touch(*e);
      co_await bring_up_to_date(e, true);
    } catch (const portico::http_error&) {
      // Not now; the next look may succeed.
    }
    if (!e->record->forgettable()) co_await portico::sleep(host_, pause);
  }
  e->settling = false;
}

// One reading serves all viewers of waiting jobs; at most two in a second.
task<> tracker::follow_queue() {
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(queue_followed_at_ + timing_.throttle - steady::now());
  if (wait > 0ms) co_await portico::sleep(host_, wait);
  queue_followed_ = false;
  queue_followed_at_ = steady::now();
  try {
    co_await queue_since(queue_followed_at_);
  } catch (const portico::http_error&) {
    // The poll will tell.
  }
}

struct tracker::many {
  explicit many(const portico::host& h) : landed(std::make_shared<flight>(h)) {}
  std::vector<std::shared_ptr<job>> jobs;
  std::size_t next = 0, workers = 0;
  bool look_twice = false;
  std::exception_ptr failure;
  std::shared_ptr<flight> landed;
};

task<> tracker::refresh_all(std::vector<std::shared_ptr<job>> jobs, bool look_twice) {
  std::erase_if(jobs, [](const std::shared_ptr<job>& j) { return j->ended(); });
  if (jobs.empty()) co_return;
  const auto work = std::make_shared<many>(host_);
  work->jobs = std::move(jobs);
  work->look_twice = look_twice;
  work->workers = std::min(work->jobs.size(), at_a_time);
  const std::shared_ptr<flight> landed = work->landed;
  for (std::size_t i = work->workers; i; --i) spawn_(refresh_some(work));
  co_await landed->wait();
}

task<> tracker::refresh_some(std::shared_ptr<many> work) {
  try {
    while (!work->failure && work->next < work->jobs.size()) {
      const std::shared_ptr<job> j = work->jobs[work->next++];
      if (j->ended()) continue;
      const entry_ptr e = follow(j, !registry_.find(j->id()));
      co_await bring_up_to_date(e, work->look_twice);
    }
  } catch (...) {
    work->failure = std::current_exception();
  }
  if (--work->workers == 0) work->landed->land(work->failure);
}

}  // namespace jobs
