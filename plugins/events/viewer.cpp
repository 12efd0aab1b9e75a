#include "plugins/events/viewer.hpp"

#include <algorithm>
#include <portico/timer.hpp>

namespace events {

using portico::task;

int32_t viewer::next_op::start() noexcept {
  subscription& s = *viewer_.subscription_;
  const int32_t rc = s.jobs().table().next(s.jobs().self(), s.raw(), &event_, &done, arg());
  viewer_.waiting_ = rc == PORTICO_OK;
  return rc;
}

void viewer::next_op::cancel() noexcept {
  subscription& s = *viewer_.subscription_;
  s.jobs().table().cancel(s.jobs().self(), s.raw());
}

const comfy_event* viewer::next_op::await_resume() {
  viewer_.waiting_ = false;
  const int32_t rc = status();
  if (rc == PORTICO_OK || rc == PORTICO_READY) return &event_;
  if (rc != PORTICO_E_CANCELLED) throw portico::error(rc);
  viewer_.stopping_ = viewer_.request_->closed();  // else the clock woke us
  return nullptr;
}

int32_t viewer::write_op::start() noexcept {
  const int32_t rc = server().http().write(viewer_.request_->exchange(), portico::to_abi(bytes_), &done, arg());
  if (rc == PORTICO_OK) {
    viewer_.writing_since_ = steady::now();
    viewer_.wake_clock();
  }
  return rc;
}

void viewer::write_op::await_resume() const {
  viewer_.writing_since_ = {};
  if (viewer_.stuck_) throw portico::error(PORTICO_E_TIMEOUT, "the client takes nothing");
  portico::check(status());
}

steady::time_point viewer::due() const noexcept {
  if (writing_since_ != steady::time_point{}) return writing_since_ + timing_.stuck;
  return beat_at_;
}

void viewer::wake_clock() noexcept {
  if (asleep_) asleep_->end(PORTICO_E_STATE);
}

void viewer::leave() noexcept {
  request_ = nullptr;
  subscription_ = nullptr;
  wake_clock();
}

task<> viewer::watch(std::shared_ptr<viewer> v) {
  while (v->request_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(v->due() - steady::now());
    portico::scope nap;
    v->asleep_ = &nap;
    int32_t stopped = PORTICO_OK;
    try {
      // A heartbeat that is due and not yet sent, because the writer is busy, is looked at again in a moment.
      co_await portico::sleep(portico::context(v->host_, nap), std::max(left, std::chrono::milliseconds(20)));
    } catch (const portico::error& e) {
      stopped = nap.reason() == PORTICO_OK ? e.code() : PORTICO_OK;  // woken, or the plugin stops
    }
    v->asleep_ = nullptr;
    if (stopped) co_return;
    if (!v->request_ || steady::now() < v->due()) continue;
    if (v->writing_since_ != steady::time_point{}) {
      v->stuck_ = true;
      v->host_.http().cancel(v->request_->exchange());
    } else if (v->waiting_) {
      v->subscription_->jobs().table().cancel(v->subscription_->jobs().self(), v->subscription_->raw());
    }
  }
}

}  // namespace events
