#include "plugins/jobs/channel.hpp"

namespace jobs {

void channel::put(event e) {
  if (left_ || over_) return;
  over_ = e.terminal;
  numbered n{order_++, std::move(e)};
  if (n.what.kind == COMFY_EVENT_PROGRESS)
    progress_ = std::move(n);
  else if (n.what.kind == COMFY_EVENT_PREVIEW)
    preview_ = std::move(n);
  else
    kept_.push_back(std::move(n));
  if (done_) complete(PORTICO_OK);
}

// The oldest of what is here.
std::optional<event> channel::take() {
  numbered* oldest = kept_.empty() ? nullptr : &kept_.front();
  for (std::optional<numbered>* o : {&progress_, &preview_})
    if (*o && (!oldest || (*o)->order < oldest->order)) oldest = &**o;
  if (!oldest) return std::nullopt;
  event e = std::move(oldest->what);
  if (progress_ && oldest == &*progress_)
    progress_.reset();
  else if (preview_ && oldest == &*preview_)
    preview_.reset();
  else
    kept_.pop_front();
  return e;
}

int32_t channel::next(giver give, void* subscription, comfy_event* out, portico_done done, void* user) {
  if (done_) return PORTICO_E_STATE;
  if (const std::optional<event> e = take()) {
    give(subscription, out, *e);
    return PORTICO_READY;
  }
  if (over_) return PORTICO_E_CLOSED;
  ++waits_;
  give_ = give;
  subscription_ = subscription;
  out_ = out;
  done_ = done;
  user_ = user;
  return PORTICO_OK;
}

void channel::complete(int32_t status) {
  if (status == PORTICO_OK) give_(subscription_, out_, *take());
  const portico_done done = std::exchange(done_, nullptr);
  done(user_, status);  // it may give the subscription back
}

// What cancel() posts: an event may come first, and another wait begin, which this must not end.
struct channel::cancellation {
  std::shared_ptr<channel> whose;
  std::uint64_t wait;
};

int32_t channel::cancel() {
  if (!done_) return PORTICO_E_STATE;
  auto* posted = new cancellation{shared_from_this(), waits_};
  const auto later = [](void* user) noexcept {
    const std::unique_ptr<cancellation> c(static_cast<cancellation*>(user));
    if (c->whose->pending() && c->whose->waits_ == c->wait) c->whose->complete(PORTICO_E_CANCELLED);
  };
  return host_.raw()->post(host_.raw(), home_, later, posted);
}

void mail::send(const std::shared_ptr<channel>& to, event e) {
  box& b = boxes_.of(to->home());
  const std::lock_guard lock(b.guard);
  b.waiting.emplace_back(to, std::move(e));
  if (!std::exchange(b.posted, true)) host_.raw()->post(host_.raw(), to->home(), &deliver, &b);
}

void mail::deliver(void* user) noexcept {
  box& b = *static_cast<box*>(user);
  std::vector<std::pair<std::shared_ptr<channel>, event>> arrived;
  {
    const std::lock_guard lock(b.guard);
    b.posted = false;
    arrived.swap(b.waiting);
  }
  for (auto& [to, e] : arrived) to->put(std::move(e));
}

}  // namespace jobs
