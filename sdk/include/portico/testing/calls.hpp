// portico/testing/calls.hpp - portico.client/1 of the fake server, over scripted upstreams.  Included by server.hpp.
#pragma once
#include "fake_server.hpp"

namespace portico::testing::detail {

inline int32_t call_open(const portico_host* h, const portico_call_options* o, portico_call** out) {
  const int32_t l = on_loop(h, "client open");
  if (l < 0) return PORTICO_E_STATE;
  instance& i = of(h);
  const std::string url = str(o->url);
  if (!url.starts_with("http://")) return PORTICO_E_ARGUMENT;
  if (i.stopping) return PORTICO_E_CANCELLED;
  auto* c = new portico_call(i, static_cast<uint32_t>(l));
  c->seen = {str(o->method), url, {}, {}};
  for (std::size_t k = 0; k < o->header_count; ++k)
    c->seen.headers.emplace_back(str(o->headers[k].name), str(o->headers[k].value));
  std::size_t best = 0;
  for (const auto& [prefix, script] : i.srv->scripts)
    if (url.starts_with(prefix) && prefix.size() >= best) c->script = script, best = prefix.size();
  c->promised = o->content_length;
  if (c->promised == 0) c->later(std::chrono::milliseconds(0), [c] { c->body_complete(); });
  if (o->total_ms) c->later(std::chrono::milliseconds(o->total_ms), [c] { c->fail_all(PORTICO_E_TIMEOUT); });
  if (c->script) {
    const reply early = c->script(c->seen);  // scripts that depend on the body are asked again when it is complete
    if (early.early || early.refuses) c->answer_ = early, c->decided = true;
  }
  *out = c;
  return PORTICO_OK;
}
inline int32_t call_write(portico_call* c, portico_str bytes, portico_done fn, void* user) {
  if (!c->here("client write") || c->writing.busy || c->piping.busy) return PORTICO_E_STATE;
  if (!fn) return PORTICO_E_ARGUMENT;
  if (c->failure) return c->failure;
  const int32_t rc = c->put(bytes);
  return rc == PORTICO_OK ? c->begin(c->writing, fn, user) : rc;
}
inline int32_t call_end(portico_call* c) {
  if (!c->here("client end") || c->body_done) return PORTICO_E_STATE;
  c->body_complete();
  return PORTICO_OK;
}
inline int32_t call_head(portico_call* c, const portico_head** out, portico_done fn, void* user) {
  if (!c->here("client head") || c->heading.busy || c->piping.busy || c->head_taken) return PORTICO_E_STATE;
  if (!out || !fn) return PORTICO_E_ARGUMENT;
  if (c->failure) return c->failure;
  c->head_taken = true;
  c->head_out = out;
  if (c->body_done || c->decided || !c->script) c->later(c->answer_.delay, [c] { c->answer(); });
  return c->begin(c->heading, fn, user);
}
inline int32_t call_read(portico_call* c, std::size_t, portico_str* out, portico_done fn, void* user) {
  if (!c->here("client read") || c->busy() || !c->head_taken) return PORTICO_E_STATE;
  if (!out || !fn) return PORTICO_E_ARGUMENT;
  int32_t rc = 0;
  if (c->fetch(rc)) return *out = abi(c->chunk), rc < 0 ? rc : PORTICO_READY;
  c->read_out = out;
  return c->begin(c->reading, fn, user);
}
inline int32_t pipe_any(portico_call* c, portico_exchange* x, bool up, portico_pipe* out, portico_done fn, void* user) {
  if (!c->here("client pipe") || !x->here("client pipe")) return PORTICO_E_STATE;
  if (!out || !fn) return PORTICO_E_ARGUMENT;
  if (c->busy() || x->pipe || (up ? x->reading.busy || x->filtered : x->writing.busy || !x->begun))
    return PORTICO_E_STATE;
  if (c->failure) return c->failure;
  *out = {};
  c->pipe_x = x;
  x->pipe = c;
  c->pipe_out = out;
  c->pipe_up = up;
  if (up && x->expects_continue) x->far->continued = true;
  c->begin(c->piping, fn, user);
  c->later(std::chrono::milliseconds(0), [c] { c->pump(); });
  return PORTICO_OK;
}
inline int32_t pipe_request(portico_call* c, portico_exchange* x, portico_pipe* out, portico_done fn, void* user) {
  return pipe_any(c, x, true, out, fn, user);
}
inline int32_t pipe_response(portico_exchange* x, portico_call* c, portico_pipe* out, portico_done fn, void* user) {
  return pipe_any(c, x, false, out, fn, user);
}
inline int32_t call_cancel(portico_call* c) {
  if (!c->here("client cancel")) return PORTICO_E_STATE;
  c->fail_all(PORTICO_E_CANCELLED);
  return PORTICO_OK;
}
inline int32_t call_close(portico_call* c) {
  if (!c->here("client close") || c->busy()) return PORTICO_E_STATE;
  delete c;
  return PORTICO_OK;
}

}  // namespace portico::testing::detail

inline void portico_call::decide() {
  if (decided || !script) return;
  answer_ = script(seen);
  decided = true;
}
// READY, OK (full: wait for drain), or an error.
inline int32_t portico_call::put(portico_str bytes) {
  if (!script || (decided && answer_.refuses)) return PORTICO_E_UNREACHABLE;
  if (decided && answer_.early) return PORTICO_E_CLOSED;
  received += static_cast<int64_t>(bytes.size);
  queued += bytes.size;
  seen.body.append(bytes.data ? bytes.data : "", bytes.size);
  if (promised > 0 && received >= promised) body_complete();
  if (queued < portico::testing::high_water) return PORTICO_READY;
  if (!draining) {
    draining = true;
    later(std::chrono::milliseconds(1), [this] { drain(); });
  }
  return PORTICO_OK;
}
inline void portico_call::drain() {
  draining = false;
  queued = 0;
  complete(writing, PORTICO_OK);
  if (pipe_x && pipe_up) pump();
}
inline void portico_call::body_complete() {
  if (std::exchange(body_done, true)) return;
  owner->srv->calls.push_back(seen);
  decide();
  if (heading.waiting) later(answer_.delay, [this] { answer(); });
}
inline void portico_call::answer() {
  if (!heading.waiting) return;
  if (!script || answer_.refuses) return complete(heading, failure = PORTICO_E_UNREACHABLE);
  if (answer_.never) return;
  abi_headers.clear();
  for (const auto& f : answer_.headers)
    abi_headers.push_back({portico::testing::detail::abi(f.first), portico::testing::detail::abi(f.second)});
  head = {sizeof(portico_head), answer_.status, abi_headers.data(), abi_headers.size(), answer_.length};
  *head_out = &head;
  complete(heading, PORTICO_OK);
}
inline bool portico_call::fetch(int32_t& rc) {
  if (failure) return rc = failure, true;
  if (answer_.delay.count() > 0 && !std::exchange(fetched, false)) {
    if (!std::exchange(fetching, true))
      later(answer_.delay, [this] {
        fetching = false;
        fetched = true;
        if (pipe_x) return pump();
        int32_t status = 0;
        if (reading.waiting && fetch(status)) {
          *read_out = portico::testing::detail::abi(chunk);
          complete(reading, status);
        }
      });
    return false;
  }
  rc = 0;
  chunk.clear();
  if (answer_.breaks_after >= 0 && next >= static_cast<std::size_t>(answer_.breaks_after))
    return rc = failure = PORTICO_E_CLOSED, true;
  if (next < answer_.chunks.size()) chunk = answer_.chunks[next++];
  return true;
}
inline void portico_call::pump() {
  while (pipe_x && pipe_up) {
    if (queued >= portico::testing::high_water) return;  // drain comes back here
    if (decided && answer_.early) return pipe_end(PORTICO_OK, PORTICO_E_CLOSED);
    portico_str piece{};
    int32_t rc = 0;
    if (!pipe_x->take(0, &piece, rc)) return;  // arrived or lost comes back here
    if (rc < 0) return pipe_end(rc, PORTICO_OK);
    if (!piece.size) {
      body_complete();
      return pipe_end(PORTICO_OK, PORTICO_OK);
    }
    if (rc = put(piece); rc < 0) return pipe_end(PORTICO_OK, rc);
    pipe_out->bytes += static_cast<int64_t>(piece.size);
  }
  while (pipe_x) {
    if (pipe_x->gone) return pipe_end(PORTICO_OK, PORTICO_E_CLOSED);
    if (pipe_x->queued >= portico::testing::high_water) return;  // flush comes back here
    int32_t rc = 0;
    if (!fetch(rc)) return;
    if (rc < 0 || chunk.empty()) return pipe_end(rc, PORTICO_OK);
    pipe_out->bytes += static_cast<int64_t>(chunk.size());
    pipe_x->put(portico::testing::detail::abi(chunk));
  }
}
inline void portico_call::pipe_end(int32_t source, int32_t sink) {
  pipe_out->source = source;
  pipe_out->sink = sink;
  pipe_x->pipe = nullptr;
  pipe_x = nullptr;
  complete(piping, source ? source : sink);
}
inline void portico_call::fail_all(int32_t status) {
  if (!failure) failure = status;
  for (auto* s : {&writing, &heading, &reading}) complete(*s, status);
  if (pipe_x) pipe_end(pipe_up ? PORTICO_OK : status, pipe_up ? status : PORTICO_OK);
}
