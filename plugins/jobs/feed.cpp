#include "plugins/jobs/feed.hpp"

#include <algorithm>
#include <portico/timer.hpp>
#include <utility>

namespace jobs {
namespace {

using namespace std::chrono_literals;
using portico::task;

constexpr auto shortest_pause = 250ms, longest_pause = 5000ms;
constexpr auto steady_after = 10s;  // a session this long was a good one
constexpr auto status_within = 2s;
constexpr auto greeting_within = 5s;  // ComfyUI speaks first
constexpr auto nudge_every = 2s;
constexpr auto look_again = 500ms;
constexpr auto ping_after = 10'000ms;
constexpr std::size_t longest_message = 256u << 20;
constexpr std::string_view hello = R"({"type":"feature_flags","data":{"supports_preview_metadata":true}})";

}  // namespace

std::chrono::milliseconds backoff::after(steady::duration open) noexcept {
  if (open >= steady_after) next_ = shortest_pause;
  return std::exchange(next_, std::min(next_ * 2, longest_pause));
}

feed::feed(const portico::host& h, tracker& t, tracker::spawner spawn)
    : host_(h), tracker_(t), spawn_(std::move(spawn)) {}

task<> feed::run(std::string url) {
  url_ = std::move(url);
  for (backoff wait;;) {
    attempted_ = steady::now();
    opened_ = {};
    connects.record();
    try {
      co_await session();
    } catch (const portico::error& e) {
      if (e.code() == PORTICO_E_CANCELLED) throw;
      complain(e.what());
    } catch (const std::exception& e) {
      complain(e.what());
    }
    hanging_up_ = false;
    owed_.clear();
    tracker_.feed_closed();
    const steady::duration lasted = opened_ == steady::time_point{} ? 0s : steady::now() - opened_;
    co_await pause(wait.after(lasted));
  }
}

// Once for each time that it goes away: it is asked again and again.
void feed::complain(const char* what) noexcept {
  if (!std::exchange(complained_, true))
    host_.log(portico::level::warning, std::string("live feed: ") + what + "; until it is back, jobs are polled");
}

task<> feed::pause(std::chrono::milliseconds d) {
  portico::scope until_nudged;
  pause_ = &until_nudged;
  std::exception_ptr failure;
  try {
    co_await portico::sleep(portico::context(host_, until_nudged), d);
  } catch (const portico::error&) {
    if (until_nudged.reason() == PORTICO_OK) failure = std::current_exception();  // not a nudge: the plugin stops
  }
  pause_ = nullptr;
  if (failure) std::rethrow_exception(failure);
}

task<> feed::session() {
  portico::websocket_options options(url_);
  options.max_message(longest_message).ping_every(ping_after);
  portico::websocket socket = portico::websocket::connect(host_, options);
  co_await socket.ready();
  co_await socket.send_text(hello);
  open_ = &socket;
  opened_ = steady::now();
  owed_.clear();
  owed_.push_back({opened_, opened_ + greeting_within});
  if (!std::exchange(collecting_, true)) spawn_(collect());
  tracker_.feed_opened();
  if (std::exchange(complained_, false)) host_.log(portico::level::info, "live feed: it is back");
  std::exception_ptr failure;
  try {
    co_await listen(socket);
  } catch (...) {
    failure = std::current_exception();
  }
  open_ = nullptr;
  if (failure) {
    // The other end may still have this socket, and must not end it after the next one has begun.
    try {
      if (!hanging_up_) socket.shutdown();
      while (co_await socket.receive()) {
      }
    } catch (const portico::error&) {
      // It is gone, as far as can be known from here.
    }
    std::rethrow_exception(failure);
  }
}

// Until the connection has really ended.
task<> feed::listen(portico::websocket& socket) {
  for (;;) {
    const std::optional<portico::websocket::message> m = co_await socket.receive();
    if (!m) co_return;
    on_message(*m);
  }
}

void feed::on_message(const portico::websocket::message& m) {
  if (hanging_up_) return;
  try {
    if (m.is_text()) {
      // Only a status answers for the queue; as a greeting anything will do.
      const bool status = tracker_.on_text(m.bytes()) == native::status;
      if (status) heard_status_ = steady::now();
      if (status)
        owed_.clear();
      else if (!owed_.empty() && owed_.front().since == opened_)
        owed_.pop_front();
    } else {
      tracker_.on_binary(m.bytes());
    }
  } catch (const std::exception& e) {
    host_.log(portico::level::warning, std::string("live feed: a message was passed over: ") + e.what());
  }
}

void feed::expect_status(steady::time_point since) {
  if (!open_) return nudge();
  if (hanging_up_ || heard_status_ >= since || opened_ >= since) return;
  owed_.push_back({since, steady::now() + status_within});
  if (!std::exchange(collecting_, true)) spawn_(collect());
}

// Waits for what is owed, and hangs up when it does not come.
task<> feed::collect() {
  while (!owed_.empty() && !hanging_up_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(owed_.front().due - steady::now());
    if (left <= 0ms) {
      hang_up("it says nothing of what happens; opening another");
      break;
    }
    // What is owed now may be paid meanwhile, and the next debt be due earlier: a greeting has longer than a status.
    co_await portico::sleep(host_, std::min<std::chrono::milliseconds>(left, look_again));
  }
  collecting_ = false;
}

void feed::hang_up(const char* why) noexcept {
  if (!open_ || std::exchange(hanging_up_, true)) return;
  host_.log(portico::level::info, std::string("live feed: ") + why);
  try {
    open_->shutdown();
  } catch (const portico::error&) {
    // It has ended already: listen() is about to see it.
  }
}

void feed::nudge() noexcept {
  if (pause_ && steady::now() - attempted_ >= nudge_every) pause_->end(PORTICO_E_STATE);
}

}  // namespace jobs
