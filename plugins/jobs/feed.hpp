// plugins/jobs/feed.hpp - the one WebSocket to ComfyUI that tells of all jobs.
//
// Rules that ComfyUI makes: it addresses a job's messages to the client id the job was submitted with; when an old
// socket ends it forgets the client id, also when a new socket has it by then, so the old one's end is awaited first;
// and one socket that is not read holds up all of them, so this one is always read.  A socket that was forgotten stays
// open and answers pings: it is known by the status message that does not come when the queue has changed.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <string>

#include <portico/host.hpp>
#include <portico/operation.hpp>
#include <portico/stats.hpp>
#include <portico/task.hpp>
#include <portico/websocket.hpp>

#include "plugins/jobs/clock.hpp"
#include "plugins/jobs/tracker.hpp"

namespace jobs {

// Lives on the tracker's loop.
class feed {
 public:
  feed(const portico::host&, tracker&, tracker::spawner);

  // Keeps a socket to that URL open.  Ends when the plugin stops.
  portico::task<> run(std::string url);
  // ComfyUI's queue changed at that moment or later, so a status message must come, within 2 s from now.
  void expect_status(steady::time_point since);
  // There is a reason to believe that ComfyUI answers now: a pause between two attempts ends.
  void nudge() noexcept;

  portico::metric connects;  // attempts; set by whoever has numbers

 private:
  struct debt {
    steady::time_point since, due;
  };
  portico::task<> session();
  portico::task<> pause(std::chrono::milliseconds);
  void complain(const char* what) noexcept;
  portico::task<> listen(portico::websocket&);
  portico::task<> collect();
  void on_message(const portico::websocket::message&);
  void hang_up(const char* why) noexcept;

  const portico::host& host_;
  std::string url_;
  tracker& tracker_;
  const tracker::spawner spawn_;
  portico::websocket* open_ = nullptr;  // while a session lasts
  portico::scope* pause_ = nullptr;     // while it waits between two attempts
  steady::time_point attempted_{}, heard_status_{}, opened_{};
  std::deque<debt> owed_;
  bool collecting_ = false, hanging_up_ = false, complained_ = false;
};

// How long to wait between attempts.  Pure.
class backoff {
 public:
  // The pause before the next attempt, after a session that was open that long (zero: it did not open).
  std::chrono::milliseconds after(steady::duration open) noexcept;

 private:
  std::chrono::milliseconds next_{250};
};

}  // namespace jobs
