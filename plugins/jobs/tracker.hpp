// plugins/jobs/tracker.hpp - follows every job that has not ended: by the live feed, and by asking ComfyUI.
//
// It lives on one loop, so nothing in it is locked.  Other loops read what it writes into the jobs, and come here to
// ask for news.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <portico/host.hpp>
#include <portico/task.hpp>

#include "plugins/jobs/archive.hpp"
#include "plugins/jobs/asset_ids.hpp"
#include "plugins/jobs/channel.hpp"
#include "plugins/jobs/comfyui.hpp"
#include "plugins/jobs/feed_message.hpp"
#include "plugins/jobs/flight.hpp"
#include "plugins/jobs/job.hpp"
#include "plugins/jobs/progress.hpp"
#include "plugins/jobs/registry.hpp"
#include "plugins/jobs/throttle.hpp"

namespace jobs {

class tracker {
 public:
  static constexpr uint32_t loop = 0;  // where it lives
  // From a lost answer until a job that ComfyUI does not know counts as never submitted.
  static constexpr std::chrono::seconds submission_may_take{30};
  using spawner = std::function<void(portico::task<>)>;
  struct timing {
    steady::duration share{};     // how long an answer of ComfyUI serves readers
    steady::duration throttle{};  // between two events of progress, and two previews
    steady::duration poll{};      // between two looks at jobs that somebody watches
  };
  tracker(const portico::host&, const comfyui&, registry&, const asset_ids&, const archive&, mail&, const timing&,
          spawner);

  // What the feed must be told: a status message must come because of something that happened at or after that moment.
  std::function<void(steady::time_point)> on_queue_change = [](steady::time_point) {};
  std::function<void(status)> on_end = [](status) {};

  // What happened on other loops.  begun: before ComfyUI was asked.
  void accepted(const std::shared_ptr<job>&, steady::time_point begun);
  void doubtful(const std::shared_ptr<job>&);  // nobody knows whether ComfyUI took it
  // Of jobs that an earlier process was given.  doubtful: it did not learn whether ComfyUI took it.
  void resumed(const std::shared_ptr<job>&, bool doubtful);
  void cancelled(const std::shared_ptr<job>&, bool confirmed);

  // Brings a job up to date.  Throws what comfyui's calls throw.
  portico::task<> refresh(std::shared_ptr<job>);
  // Many at once.  look_twice: before a job counts as absent.
  portico::task<> refresh_all(std::vector<std::shared_ptr<job>>, bool look_twice);
  // A job of this id that is not in the registry; null when ComfyUI does not know it either.
  portico::task<std::shared_ptr<job>> look_up(job_id);
  // Brings the job up to date and has the channel told all of it from now on; null as for look_up.
  portico::task<std::shared_ptr<job>> watch(job_id, std::shared_ptr<channel>);
  void unwatch(const job_id&, const std::shared_ptr<channel>&);
  // What a subscriber of a job that has ended is told.
  static std::vector<event> story_of_ended(const job&);

  // The live feed.
  native on_text(std::string_view);  // says what kind of message it was
  void on_binary(std::string_view);
  void feed_opened();
  void feed_closed() { feed_up_ = false; }

  // Looks at watched jobs again and again, for what the feed does not tell.  Ends when the plugin stops.
  portico::task<> poll();

  std::size_t followed() const noexcept { return entries_.size(); }

 private:
  struct entry {
    entry(std::shared_ptr<job> j, bool of_another, steady::duration interval)
        : record(std::move(j)),
          foreign(of_another),
          meter(record->nodes()),
          progress_gate(interval, std::min<steady::duration>(interval, std::chrono::milliseconds(5))),
          preview_gate(interval, {}) {}
    const std::shared_ptr<job> record;
    const bool foreign;                       // it was not submitted here, so the feed does not tell of it
    int users = 0;                            // coroutines that wait for news of it
    steady::time_point changed{};             // answers of ComfyUI that were asked for earlier are out of date
    steady::time_point alive{};               // ComfyUI was last seen to have it in its queue
    std::optional<steady::time_point> doubt;  // since when nobody knows whether ComfyUI took it
    std::shared_ptr<flight> flying;
    steady::time_point flying_since{};
    bool over = false, settling = false;  // the feed said that it ended; somebody reads the history until it has it
    progress_meter meter;
    std::unordered_map<std::string, std::string> classes;  // of the graph's nodes, once it runs
    bool classes_known = false;
    throttle progress_gate, preview_gate;
    std::string preview_node, preview_type, preview_image;
    std::unordered_set<std::string> told_outputs;  // asset ids
    status told = status::queued;
    std::optional<std::uint32_t> told_position;
    std::vector<std::shared_ptr<channel>> viewers;
  };
  using entry_ptr = std::shared_ptr<entry>;
  struct reading : flight {
    using flight::flight;
    steady::time_point begun{}, received{};
    std::shared_ptr<const queue_snapshot> snapshot;
  };
  struct many;

  entry_ptr follow(const std::shared_ptr<job>&, bool foreign = false);
  entry_ptr find(const std::string& prompt_id);
  entry_ptr subject_of(const native_message&);
  void drop_if_idle(const entry_ptr&);

  // tracker_reconcile.cpp
  void touch(entry&) noexcept;
  portico::task<> bring_up_to_date(entry_ptr, bool look_twice);
  portico::task<> ask(entry_ptr, steady::time_point begun, bool look_twice);
  portico::task<bool> ended_in_history(entry_ptr);
  portico::task<std::shared_ptr<const reading>> queue_since(steady::time_point);
  portico::task<> refresh_some(std::shared_ptr<many>);
  portico::task<> settle(entry_ptr);
  portico::task<> follow_queue();
  portico::task<> cancel_late(std::shared_ptr<job>);
  void read_off(const reading&);
  void is_running(const entry_ptr&);
  portico::task<> is_absent(entry_ptr);
  portico::task<> finish(entry_ptr, ending);

  // tracker_feed.cpp
  void on_native(const entry_ptr&, const native_message&);
  void on_over(const entry_ptr&);
  void on_executed(const entry_ptr&, const native_message&);
  void on_progress(const entry_ptr&, bool changed);
  void queue_moved();

  // tracker_events.cpp
  void tell(const entry&, const event&);
  void tell_status(entry&);
  void tell_progress(entry&);
  void tell_preview(entry&);
  void offer_progress(const entry_ptr&);
  void offer_preview(const entry_ptr&);
  portico::task<> tell_later(entry_ptr, throttle entry::*gate, void (tracker::*what)(entry&));
  void begin_story(entry&, const std::shared_ptr<channel>&);
  void end_story(const entry_ptr&, status);
  std::string output_text(const job&, const output&, std::string& id) const;

  const portico::host& host_;
  const comfyui& comfyui_;
  registry& registry_;
  const asset_ids& assets_;
  const archive& archive_;
  mail& mail_;
  const timing timing_;
  const spawner spawn_;
  std::unordered_map<job_id, entry_ptr, job_id_hash> entries_;
  std::shared_ptr<reading> reading_;       // of /queue: under way
  std::shared_ptr<const reading> latest_;  // and the latest that landed
  std::string current_prompt_;             // last named by execution_start
  bool feed_up_ = false, sweep_due_ = false, queue_followed_ = false;
  steady::time_point queue_followed_at_{};
};

}  // namespace jobs
