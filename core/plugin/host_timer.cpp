#include "core/plugin/host_timer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace portico::plugin {

void held_timer::start(std::uint64_t ms, portico_done done, void* user) {
  constexpr std::uint64_t longest = 3'650ull * 24 * 3600 * 1000;  // ten years; more would overflow the clock
  timer_.start(std::chrono::milliseconds(std::min(ms, longest)));
  waiting_ = {done, user};
  result_ = base::ok;
}

std::int32_t held_timer::cancel() noexcept {
  result_ = base::cancelled;
  timer_.start(std::chrono::milliseconds(0));  // it is in the queue already, so this allocates nothing
  return PORTICO_OK;
}

void held_timer::due(void* self) noexcept {
  auto& t = *static_cast<held_timer*>(self);
  const pending now = std::exchange(t.waiting_, pending{});
  const base::status result = t.result_;
  loop_state& l = t.home_;
  const label& where = t.where();
  l.timers->give(t);
  call_done(l, where, now, result);
}

namespace {

std::int32_t after(const portico_host* h, std::uint64_t ms, portico_done done, void* user, portico_op* op) noexcept {
  constexpr const char* function = "portico.timer/1 after";
  loop_state* const l = on_loop(h, function);
  if (!l) return PORTICO_E_STATE;
  instance& i = of(h);
  if (!done || !op) return i.fault(function, "done or op is NULL", PORTICO_E_ARGUMENT);
  if (!i.accepts_operations()) return PORTICO_E_CANCELLED;
  held_timer* const t = l->timers->take(l->handles, i, i.in_timer);
  if (!t) return PORTICO_E_LIMIT;
  try {
    t->start(ms, done, user);
  } catch (...) {
    l->timers->give(*t);
    return PORTICO_E_LIMIT;
  }
  *op = t->handle();
  return PORTICO_OK;
}

}  // namespace

const portico_timer timer_table = {sizeof(portico_timer), 0, &after};

}  // namespace portico::plugin
