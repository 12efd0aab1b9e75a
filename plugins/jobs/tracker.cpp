#include "plugins/jobs/tracker.hpp"

#include <algorithm>
#include <chrono>
#include <portico/response.hpp>
#include <portico/timer.hpp>
#include <utility>

#include "plugins/jobs/job_text.hpp"

namespace jobs {
namespace {

using namespace std::chrono_literals;
using portico::task;

constexpr auto on_its_way = 2s;    // until a submission of an earlier process must have reached ComfyUI
constexpr auto sweep_every = 15s;  // a look at all jobs, watched or not, that have not ended

}  // namespace

tracker::tracker(const portico::host& h, const comfyui& upstream, registry& all, const asset_ids& assets,
                 const archive& a, mail& m, const timing& t, spawner spawn)
    : host_(h),
      comfyui_(upstream),
      registry_(all),
      assets_(assets),
      archive_(a),
      mail_(m),
      timing_(t),
      spawn_(std::move(spawn)) {}

tracker::entry_ptr tracker::follow(const std::shared_ptr<job>& j, bool foreign) {
  entry_ptr& e = entries_[j->id()];
  if (!e || e->record != j) e = std::make_shared<entry>(j, foreign, timing_.throttle);
  return e;
}

// The entry of a job that has not ended, whether or not this loop has heard of it yet.
tracker::entry_ptr tracker::find(const std::string& prompt_id) {
  const std::optional<job_id> id = parse_job_id(prompt_id);
  if (!id) return nullptr;
  if (const auto i = entries_.find(*id); i != entries_.end()) return i->second;
  const std::shared_ptr<job> j = registry_.find(*id);
  return j && !j->ended() ? follow(j) : nullptr;
}

void tracker::drop_if_idle(const entry_ptr& e) {
  const bool wanted = e->users > 0 || !e->viewers.empty() || (!e->foreign && e->record->state() != status::expired);
  if (wanted && !e->record->ended()) return;
  const auto i = entries_.find(e->record->id());
  if (i != entries_.end() && i->second == e) entries_.erase(i);
}

void tracker::accepted(const std::shared_ptr<job>& j, steady::time_point begun) {
  on_queue_change(begun);
  if (j->ended()) return;
  const entry_ptr e = follow(j);
  if (j->submitting()) {
    j->accepted();
    touch(*e);
  }
  e->alive = std::max(e->alive, begun);
  if (j->is_canceling()) spawn_(cancel_late(j));
}

void tracker::doubtful(const std::shared_ptr<job>& j) {
  if (!j->ended()) follow(j)->doubt = steady::now();
}

void tracker::resumed(const std::shared_ptr<job>& j, bool is_doubtful) {
  const entry_ptr e = follow(j);
  // Whatever an earlier process sent has arrived by now.
  if (is_doubtful) e->doubt = steady::now() - submission_may_take + on_its_way;
  sweep_due_ = true;
}

// It was cancelled before ComfyUI had it.
task<> tracker::cancel_late(std::shared_ptr<job> j) {
  try {
    const bool confirmed = co_await comfyui_.cancel(std::string(j->text_id()));
    cancelled(j, confirmed);
  } catch (const portico::http_error&) {
    // It stays "canceling" until ComfyUI says what became of it.
  }
}

void tracker::cancelled(const std::shared_ptr<job>& j, bool confirmed) {
  if (j->ended()) return;
  const entry_ptr e = follow(j, registry_.find(j->id()) != j);
  confirmed ? j->cancel_confirmed() : j->canceling();
  touch(*e);
  tell_status(*e);
  on_queue_change(steady::now());
}

task<> tracker::refresh(std::shared_ptr<job> j) {
  if (j->ended()) co_return;
  const entry_ptr e = follow(j);
  co_await bring_up_to_date(e, true);
}

task<std::shared_ptr<job>> tracker::look_up(job_id id) { co_return co_await watch(id, nullptr); }

task<std::shared_ptr<job>> tracker::watch(job_id id, std::shared_ptr<channel> viewer) {
  std::shared_ptr<job> j = registry_.find(id);
  const bool foreign = !j;
  if (foreign) {
    const auto i = entries_.find(id);
    j = i != entries_.end() ? i->second->record
                            : std::make_shared<job>(id, now_us(), nullptr, 0, std::nullopt, std::nullopt);
    j->accepted();
  }
  if (!j->ended()) {
    const entry_ptr e = follow(j, foreign);
    co_await bring_up_to_date(e, true);
    if (foreign && j->state() == status::expired) co_return nullptr;
    if (viewer && !j->ended() && j->state() != status::expired) {
      begin_story(*follow(j, foreign), viewer);
      co_return j;
    }
  }
  if (viewer)
    for (const event& e : story_of_ended(*j)) mail_.send(viewer, e);
  co_return j;
}

void tracker::unwatch(const job_id& id, const std::shared_ptr<channel>& viewer) {
  const auto i = entries_.find(id);
  if (i == entries_.end()) return;
  const entry_ptr e = i->second;
  std::erase(e->viewers, viewer);
  drop_if_idle(e);
}

void tracker::feed_opened() {
  feed_up_ = true;
  sweep_due_ = true;  // whatever happened meanwhile was not told
  current_prompt_.clear();
}

task<> tracker::poll() {
  for (steady::time_point swept{};;) {
    // Without the feed, polling is all there is.
    const auto pause = feed_up_ ? timing_.poll : std::min<steady::duration>(timing_.poll, 1s);
    co_await portico::sleep(host_, std::chrono::duration_cast<std::chrono::milliseconds>(pause));
    const bool sweep = sweep_due_ || steady::now() - swept >= sweep_every;
    if (sweep) swept = steady::now();
    sweep_due_ = false;
    std::vector<std::shared_ptr<job>> due;
    for (const auto& [id, e] : entries_)
      if (sweep || !e->viewers.empty()) due.push_back(e->record);
    if (due.empty()) continue;
    try {
      co_await refresh_all(std::move(due), true);
    } catch (const portico::http_error&) {
      // ComfyUI is away: the next round asks again.
    }
  }
}

}  // namespace jobs
