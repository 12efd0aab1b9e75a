#include "core/plugin/host_client.hpp"

#include <string>
#include <utility>

#include "core/plugin/host_http.hpp"

namespace portico::plugin {

namespace {
constexpr std::size_t oldest_options =
    offsetof(portico_call_options, content_length) + sizeof(portico_call_options::content_length);
}

void held_call::adopt(std::unique_ptr<upstream::call> c) {
  call_ = std::move(c);
  answer_ = nullptr;
  writing_ = heading_ = reading_ = piping_ = {};
}

void held_call::call(pending& p, base::status status) noexcept {
  call_done(home_, where(), std::exchange(p, pending{}), status);
}

// False: no memory for the headers.
bool held_call::make_head() {
  try {
    fields_.clear();
    give_fields(fields_, answer_->headers);
  } catch (...) {
    return false;
  }
  head_ = {sizeof(portico_head), answer_->status, fields_.data(), fields_.size(), answer_->content_length};
  *head_out_ = &head_;
  return true;
}

void held_call::write_done(void* self, base::status status) noexcept {
  auto& c = *static_cast<held_call*>(self);
  c.call(c.writing_, status);
}
void held_call::head_done(void* self, base::status status) noexcept {
  auto& c = *static_cast<held_call*>(self);
  if (status >= 0 && !c.make_head()) status = base::failed;
  c.call(c.heading_, status);
}
void held_call::read_done(void* self, base::status status) noexcept {
  auto& c = *static_cast<held_call*>(self);
  if (status >= 0) *c.read_out_ = to_abi(c.chunk_);
  c.call(c.reading_, status);
}
void held_call::pipe_done(void* self, base::status status) noexcept {
  auto& c = *static_cast<held_call*>(self);
  *c.pipe_out_ = {c.piped_.source, c.piped_.sink, c.piped_.bytes};
  std::exchange(c.piped_with_, nullptr)->piped_by(nullptr);
  c.call(c.piping_, status);
}

std::int32_t held_call::write(portico_str bytes, portico_done done, void* user) {
  if (!sound(bytes) || !done)
    return owner().fault("portico.client/1 write", "bytes.data or done is NULL", PORTICO_E_ARGUMENT);
  if (writing_ || piping_) return PORTICO_E_STATE;
  const base::status s = call_->write(view(bytes), &write_done, this);
  if (s == base::ok) writing_ = {done, user};
  return s;
}

std::int32_t held_call::head(const portico_head** out, portico_done done, void* user) {
  if (!out || !done) return owner().fault("portico.client/1 head", "out or done is NULL", PORTICO_E_ARGUMENT);
  if (heading_) return PORTICO_E_STATE;
  head_out_ = out;
  const base::status s = call_->head(&answer_, &head_done, this);
  if (s == base::ready && !make_head()) return PORTICO_E_FAILED;
  if (s == base::ok) heading_ = {done, user};
  return s;
}

std::int32_t held_call::read(std::size_t max, portico_str* chunk, portico_done done, void* user) {
  if (!chunk || !done) return owner().fault("portico.client/1 read", "chunk or done is NULL", PORTICO_E_ARGUMENT);
  if (reading_ || piping_) return PORTICO_E_STATE;
  const base::status s = call_->read(max, &chunk_, &read_done, this);
  if (s == base::ready) *chunk = to_abi(chunk_);
  if (s != base::ok) return s;
  read_out_ = chunk;
  reading_ = {done, user};
  return PORTICO_OK;
}

std::int32_t held_call::pipe(held_exchange& x, bool up, portico_pipe* out, portico_done done, void* user) {
  if (!out || !done) return owner().fault("portico.client/1 pipe", "the result or done is NULL", PORTICO_E_ARGUMENT);
  if (piping_ || writing_ || reading_ || x.is_piped()) return PORTICO_E_STATE;
  piped_ = {};
  const base::status s = up ? call_->pipe_request(x.engine(), &piped_, &pipe_done, this)
                            : call_->pipe_response(x.engine(), &piped_, &pipe_done, this);
  if (s != base::ok) {
    *out = {piped_.source, piped_.sink, piped_.bytes};
    return s;
  }
  pipe_out_ = out;
  piped_with_ = &x;
  x.piped_by(this);
  piping_ = {done, user};
  return PORTICO_OK;
}

std::int32_t held_call::close() {
  if (call_->busy() || writing_ || heading_ || reading_ || piping_) return PORTICO_E_STATE;
  call_.reset();
  home_.calls->give(*this);
  return PORTICO_OK;
}

namespace {

template <class F>
std::int32_t on(portico_call* c, const char* function, F&& f) noexcept {
  try {
    held_call* const held = resolve<held_call>(c, function);
    return held ? f(*held) : PORTICO_E_STATE;
  } catch (...) {
    return PORTICO_E_FAILED;  // no memory
  }
}

std::int32_t open(const portico_host* h, const portico_call_options* given, portico_call** out) noexcept {
  constexpr const char* function = "portico.client/1 open";
  loop_state* const l = on_loop(h, function);
  if (!l) return PORTICO_E_STATE;
  instance& i = of(h);
  portico_call_options o;
  if (!out || !take_struct(given, oldest_options, &o))
    return i.fault(function, "out is NULL, or the options' struct_size is too small", PORTICO_E_ARGUMENT);
  if (!i.accepts_operations()) return PORTICO_E_CANCELLED;
  if (!l->client) return i.fault(function, "this server has no upstream client", PORTICO_E_ABSENT);
  if (!sound(o.method) || !sound(o.url) || !take_fields(*l, o.headers, o.header_count))
    return i.fault(function, "method, url or headers cannot be read", PORTICO_E_ARGUMENT);
  try {
    upstream::call_options options;
    options.method = view(o.method);
    options.url = view(o.url);
    options.headers = l->fields;
    options.content_length = o.content_length;
    options.connect = std::chrono::milliseconds(o.connect_ms);
    options.idle = std::chrono::milliseconds(o.idle_ms);
    options.total = std::chrono::milliseconds(o.total_ms);
    std::unique_ptr<upstream::call> engine;
    const base::status s = l->client->open(options, &engine);
    if (s == base::argument) i.fault(function, "a bad method, URL or header; the URL may be http:// only");
    if (s < 0) return s;
    held_call* const c = l->calls->take(l->handles, i, i.in_call);
    if (!c) return PORTICO_E_LIMIT;
    c->adopt(std::move(engine));
    *out = to_handle<portico_call>(*c);
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}
std::int32_t write(portico_call* c, portico_str bytes, portico_done done, void* user) noexcept {
  return on(c, "portico.client/1 write", [&](held_call& held) { return held.write(bytes, done, user); });
}
std::int32_t end(portico_call* c) noexcept {
  return on(c, "portico.client/1 end", [](held_call& held) { return held.engine().end(); });
}
std::int32_t head(portico_call* c, const portico_head** out, portico_done done, void* user) noexcept {
  return on(c, "portico.client/1 head", [&](held_call& held) { return held.head(out, done, user); });
}
std::int32_t read(portico_call* c, std::size_t max, portico_str* chunk, portico_done done, void* user) noexcept {
  return on(c, "portico.client/1 read", [&](held_call& held) { return held.read(max, chunk, done, user); });
}
std::int32_t pipe(portico_call* c, portico_exchange* x, bool up, portico_pipe* out, portico_done done, void* user,
                  const char* function) noexcept {
  return on(c, function, [&](held_call& held) {
    held_exchange* const e = resolve<held_exchange>(x, function);
    if (!e) return PORTICO_E_STATE;
    if (up && e->is_filtered()) {
      held.owner().fault(function, "a filter must not read the body");
      return PORTICO_E_STATE;
    }
    return held.pipe(*e, up, out, done, user);
  });
}
std::int32_t pipe_request(portico_call* c, portico_exchange* x, portico_pipe* out, portico_done done,
                          void* user) noexcept {
  return pipe(c, x, true, out, done, user, "portico.client/1 pipe_request");
}
std::int32_t pipe_response(portico_exchange* x, portico_call* c, portico_pipe* out, portico_done done,
                           void* user) noexcept {
  return pipe(c, x, false, out, done, user, "portico.client/1 pipe_response");
}
std::int32_t cancel(portico_call* c) noexcept {
  return on(c, "portico.client/1 cancel", [](held_call& held) { return held.engine().cancel(); });
}
std::int32_t close(portico_call* c) noexcept {
  return on(c, "portico.client/1 close", [](held_call& held) { return held.close(); });
}

}  // namespace

const portico_client client_table = {sizeof(portico_client), 0,       &open, &write, &end, &head, &read, &pipe_request,
                                     &pipe_response,         &cancel, &close};

}  // namespace portico::plugin
