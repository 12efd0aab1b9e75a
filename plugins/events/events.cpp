#include "plugins/events/events.hpp"

#include <portico/stream.hpp>
#include <string>

#include "plugins/comfy/errors.hpp"
#include "plugins/events/frame.hpp"

namespace events {
namespace {

using portico::http_error;
using portico::request;
using portico::response;
using portico::task;

http_error too_many() {
  return http_error(429, comfy::code::too_many_streams, "too many event streams are open; poll the job, or try again")
      .header("retry-after", "5");
}

response head() {
  response r(200, "text/event-stream");
  r.header("cache-control", "no-cache, no-transform");
  r.header("x-accel-buffering", "no");
  return r;
}

[[noreturn]] void throw_subscribe_failure(const portico::error& e) {
  switch (e.code()) {
    case PORTICO_E_ABSENT:
      throw http_error(404, comfy::code::not_found, "there is no job of this id");
    case PORTICO_E_UNREACHABLE:
      throw http_error(503, comfy::code::upstream_unreachable, "ComfyUI did not answer");
    case PORTICO_E_PROTOCOL:
      throw http_error(500, comfy::code::upstream_error, "ComfyUI's answer made no sense");
    default:
      throw e;
  }
}

}  // namespace

events_plugin::events_plugin(portico::host h)
    : plugin(h), places_(h.integer("max_streams")), timing_{h.duration("heartbeat"), h.duration("stuck_after")} {}

void events_plugin::start() {
  jobs_ = portico::service<comfy_jobs>(server(), COMFY_JOBS);
  open_ = portico::metric::gauge(server(), "event_streams_open", "Event streams that are open.");
  route("GET", "/api/v2/jobs/{id}/events", &events_plugin::stream);
}

task<response> events_plugin::stream(request& req) {
  const bool only_head = req.method() == "HEAD";
  if (!only_head && places_.full()) throw too_many();
  subscription events(jobs_);
  co_await subscribe(req, events);
  if (only_head) {
    portico::stream out(req, head());
    co_return out.end();
  }
  // Taken only now, so that a client that went while ComfyUI was asked holds no place.
  const places::place place(places_);
  if (!place) throw too_many();
  portico::stream out(req, head());
  const auto v = std::make_shared<viewer>(req, events, timing_);
  spawn(viewer::watch(v));
  open_.record(1);
  std::exception_ptr failure;
  try {
    co_await relay(req, *v);
  } catch (...) {
    failure = std::current_exception();
  }
  open_.record(-1);
  v->leave();
  if (failure) std::rethrow_exception(failure);
  co_return out.end();
}

task<> events_plugin::subscribe(request& req, subscription& s) {
  const portico_str id = portico::to_abi(req.param("id")), base_url = portico::to_abi(req.base_url());
  try {
    co_await portico::ask(server(), [&](portico_done done, void* user) {
      return jobs_.table().subscribe(jobs_.self(), id, base_url, &s.raw(), done, user);
    });
  } catch (const portico::error& e) {
    throw_subscribe_failure(e);
  }
}

task<> events_plugin::relay(request&, viewer& v) {
  std::string frame;
  for (;;) {
    if (v.heartbeat_due()) {
      v.heartbeat_sent();
      co_await v.write(heartbeat);
    }
    const comfy_event* e = co_await v.next();
    if (v.stopping()) co_return;  // the stream ends as a whole one: the client asks again, elsewhere or later
    if (!e) continue;
    write_frame(frame, e->kind, portico::view(e->data));
    const bool last = e->terminal != 0;
    co_await v.write(frame);
    if (last) co_return;
  }
}

}  // namespace events
