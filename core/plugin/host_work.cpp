#include "core/plugin/host_work.hpp"

#include <utility>

namespace portico::plugin {

std::int32_t held_work::run(portico_fn fn, portico_done at_end, void* user) {
  fn_ = fn;
  waiting_ = {at_end, user};
  threw_ = false;
  return home_.server.env.workers->run(job_);
}

std::int32_t held_work::cancel() noexcept {
  home_.server.env.workers->cancel(job_);
  return PORTICO_OK;
}

void held_work::on_pool(void* self) {
  auto& w = *static_cast<held_work*>(self);
  try {
    w.fn_(w.waiting_.user);
  } catch (...) {
    w.threw_ = true;
  }
}

void held_work::done(void* self, base::status status) noexcept {
  auto& w = *static_cast<held_work*>(self);
  const pending now = std::exchange(w.waiting_, pending{});
  loop_state& l = w.home_;
  const label& where = w.where();
  if (w.threw_) w.owner().fault("portico.work/1 run", "the work threw on the pool; nothing may leave a callback");
  if (w.threw_) status = base::failed;
  l.works->give(w);
  call_done(l, where, now, status);
}

namespace {

std::int32_t run(const portico_host* h, portico_fn on_pool, portico_done done, void* user, portico_op* op) noexcept {
  constexpr const char* function = "portico.work/1 run";
  loop_state* const l = on_loop(h, function);
  if (!l) return PORTICO_E_STATE;
  instance& i = of(h);
  if (!on_pool || !done || !op) return i.fault(function, "on_pool, done or op is NULL", PORTICO_E_ARGUMENT);
  if (!i.accepts_operations()) return PORTICO_E_CANCELLED;
  if (!i.server.env.workers) return i.fault(function, "this server has no pool", PORTICO_E_ABSENT);
  held_work* const w = l->works->take(l->handles, i, i.in_work);
  if (!w) return PORTICO_E_LIMIT;
  const std::int32_t rc = w->run(on_pool, done, user);
  if (rc != PORTICO_OK) {
    l->works->give(*w);
    return rc;
  }
  *op = w->handle();
  return PORTICO_OK;
}

}  // namespace

const portico_work work_table = {sizeof(portico_work), 0, &run};

}  // namespace portico::plugin
