// comfy.jobs/1: the table, and the way from its calls to the tracker and back.
#include <memory>
#include <portico/response.hpp>
#include <string>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/jobs/job_text.hpp"
#include "plugins/jobs/jobs.hpp"

// Belongs to the loop that opened it.
struct comfy_subscription {
  std::shared_ptr<jobs::channel> events;
  jobs::job_id id;
  std::string base_url, text;  // text: the event given last
};

namespace jobs {
namespace {

using portico::task;

void give(void* subscription, comfy_event* out, const event& e) {
  auto& s = *static_cast<comfy_subscription*>(subscription);
  s.text.clear();
  render(s.text, *e.text, s.base_url, now_us());
  out->kind = e.kind;
  out->terminal = e.terminal ? 1 : 0;
  out->data = portico::to_abi(s.text);
}

int32_t PORTICO_CALL do_subscribe(void* self, portico_str job, portico_str base_url, comfy_subscription** out,
                                  portico_done done, void* user) noexcept {
  auto& me = *static_cast<jobs_plugin*>(self);
  try {
    return portico::answer(me.server(),
                           me.subscribe(std::string(portico::view(job)), std::string(portico::view(base_url)), out),
                           done, user);
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

int32_t PORTICO_CALL do_next(void*, comfy_subscription* s, comfy_event* out, portico_done done, void* user) noexcept {
  try {
    return s->events->next(&give, s, out, done, user);
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

int32_t PORTICO_CALL do_cancel(void*, comfy_subscription* s) noexcept {
  try {
    return s->events->cancel();
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

int32_t PORTICO_CALL do_unsubscribe(void* self, comfy_subscription* s) noexcept {
  try {
    return static_cast<jobs_plugin*>(self)->unsubscribe(s);
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

// As an error of portico's: only codes cross.
[[noreturn]] void throw_as_code(const portico::http_error& e) {
  throw portico::error(e.code() == comfy::code::upstream_unreachable ? PORTICO_E_UNREACHABLE : PORTICO_E_PROTOCOL,
                       e.what());
}

}  // namespace

const comfy_jobs service_table = {sizeof(comfy_jobs), 0, &do_subscribe, &do_next, &do_cancel, &do_unsubscribe};

task<> jobs_plugin::subscribe(std::string text_id, std::string base_url, comfy_subscription** out) {
  const std::optional<job_id> id = parse_job_id(text_id);
  if (!id) throw portico::error(PORTICO_E_ABSENT);
  const auto home = static_cast<uint32_t>(server().loop_index());
  auto s = std::make_unique<comfy_subscription>();
  s->events = std::make_shared<channel>(server(), home);
  s->id = *id;
  s->base_url = std::move(base_url);
  const job_ptr known = co_await find(*id);
  if (known && known->ended()) {
    for (event& e : tracker::story_of_ended(*known)) s->events->put(std::move(e));
  } else {
    co_await portico::move_to(server(), tracker::loop);
    job_ptr j;
    std::exception_ptr failure;
    try {
      j = co_await tracker_.watch(*id, s->events);
    } catch (...) {
      failure = std::current_exception();
    }
    co_await portico::move_to(server(), home);
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const portico::http_error& e) {
      throw_as_code(e);
    }
    if (!j) throw portico::error(PORTICO_E_ABSENT);
  }
  server().raw()->hold(server().raw());
  viewers_.record(1);
  *out = s.release();
}

int32_t jobs_plugin::unsubscribe(comfy_subscription* s) {
  if (s->events->pending()) return PORTICO_E_STATE;
  const std::unique_ptr<comfy_subscription> mine(s);
  mine->events->leave();
  on_tracker([this, id = mine->id, events = mine->events] { tracker_.unwatch(id, events); });
  viewers_.record(-1);
  server().raw()->release(server().raw());
  return PORTICO_OK;
}

}  // namespace jobs
