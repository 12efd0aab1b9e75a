// portico/plugin.hpp - the base of a plugin, the root of each request, and the one exported symbol.
#pragma once
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "log.hpp"
#include "per_loop.hpp"
#include "request.hpp"
#include "response.hpp"
#include "settings.hpp"
#include "task.hpp"

namespace portico {
inline namespace v1 {

// One object serves all loops: handlers run on every loop at once, so what they share is guarded, or sharded with
// per_loop.  The constructor reads settings and has no effects.
class plugin {
 public:
  explicit plugin(host h) : host_(h), pools_(h) {}
  plugin(const plugin&) = delete;
  plugin& operator=(const plugin&) = delete;
  virtual ~plugin() = default;

  virtual void start() = 0;        // on loop 0, before anything is served: routes, services; may block and throw
  virtual void stop() noexcept {}  // on loop 0, while handlers still run on others
  const host& server() const noexcept { return host_; }

 protected:
  // In start().  The handler is a member-function coroutine.  max_body: in bytes; -1: the server's limit.  open: served
  // without a bearer token even when the server has one set.
  enum class access : uint32_t { guarded = 0, open = PORTICO_ROUTE_OPEN };
  template <class P>
  void route(const char* method, const char* pattern, task<response> (P::*handler)(request&), int64_t max_body = -1,
             access who = access::guarded) {
    entries_.push_back(std::make_unique<bound<P, response>>(*this, static_cast<P&>(*this), handler));
    const portico_route r = {sizeof(portico_route), static_cast<uint32_t>(who), method, pattern, max_body,
                             &on_request<response>, entries_.back().get()};
    check(host_.http().route(host_.raw(), &r));
  }
  // In start().  The check runs before the handler of every route of every plugin: nothing lets the request pass, a
  // response answers it.  It must not read the body.
  template <class P>
  void filter(task<std::optional<response>> (P::*check_request)(request&)) {
    using answer = std::optional<response>;
    entries_.push_back(std::make_unique<bound<P, answer>>(*this, static_cast<P&>(*this), check_request));
    check(host_.filter().add(host_.raw(), &on_request<answer>, entries_.back().get()));
  }
  // Runs a task beside the requests, from this loop on.  It ends by itself when the plugin stops, because what it waits
  // for throws error CANCELLED; the plugin is not destroyed before.
  void spawn(task<void> t) {
    host_.raw()->hold(host_.raw());
    try {
      beside(host_, std::move(t));
    } catch (...) {  // no memory for its frame
      host_.raw()->release(host_.raw());
      throw;
    }
  }

 private:
  // A route or a filter: where the server enters the plugin with an exchange.  A route's handler gives a response, a
  // filter's check perhaps one.
  class any_entry {
   public:
    explicit any_entry(plugin& p) noexcept : owner_(p) {}
    virtual ~any_entry() = default;
    const host& server() const noexcept { return owner_.host_; }
    detail::frame_pool* pool(uint32_t loop) const noexcept { return &owner_.pools_.of(loop); }

   private:
    plugin& owner_;
  };
  template <class R>
  class entry : public any_entry {
   public:
    using any_entry::any_entry;
    virtual task<R> call(request&) = 0;
  };
  template <class P, class R>
  class bound final : public entry<R> {
   public:
    bound(plugin& owner, P& p, task<R> (P::*handler)(request&)) noexcept
        : entry<R>(owner), plugin_(p), handler_(handler) {}
    task<R> call(request& r) override { return (plugin_.*handler_)(r); }

   private:
    P& plugin_;
    task<R> (P::*handler_)(request&);
  };

  template <class R>
  static void PORTICO_CALL on_request(void* user, portico_exchange* x, const portico_request* head) noexcept {
    auto& e = *static_cast<entry<R>*>(user);
    try {
      drive(e, x, head);
    } catch (...) {  // no memory for its frame
      e.server().http().begin(x, 503, nullptr, 0, 0);
      e.server().http().finish(x);
    }
  }

  // The root of one request: however the handler ends, the exchange is given back once, on its own loop.
  template <class R>
  static detail::detached drive(entry<R>& e, portico_exchange* x, const portico_request* head) {
    const host& h = e.server();
    const uint32_t loop = head->loop;  // the head may be gone when the handler ends
    request req(h, x, head, e.pool(head->loop));
    std::optional<response> answer;
    bool failed = true;
    std::optional<task<R>> handler;
    try {
      handler.emplace(e.call(req));
      answer = co_await *handler;
      failed = false;
    } catch (const http_error& failure) {
      answer = failure.answer();
    } catch (const error& failure) {
      answer = answer_to(failure.code());
      const bool usual = failure.code() == PORTICO_E_CANCELLED || (failure.code() == PORTICO_E_CLOSED && req.closed());
      note(req, usual ? level::debug : level::warning, failure.what());
    } catch (const std::exception& failure) {
      note(req, level::error, failure.what());
    } catch (...) {
      note(req, level::error, "something that is not a std::exception");
    }
    if (h.loop_index() != static_cast<int32_t>(loop)) co_await move_to(h, loop);
    handler.reset();
    if (!req.exchange()) co_return;  // it became a websocket
    req.unwatch();
    if (req.begun())
      failed ? h.http().abort(x) : h.http().finish(x);
    else if (!answer && !failed && h.filter().pass(x) == PORTICO_OK)
      co_return;
    else
      send(h, x, answer ? *answer : answer_to(PORTICO_E_FAILED));
  }
  static void send(const host& h, portico_exchange* x, const response& r) noexcept {
    const int32_t rc = r.with_fields([&](const portico_field* f, std::size_t n) {
      return h.http().begin(x, r.status(), f, n, static_cast<int64_t>(r.body().size()));
    });
    if (rc == PORTICO_OK) {
      if (!r.body().empty()) h.http().write(x, to_abi(r.body()), nullptr, nullptr);
    } else if (rc == PORTICO_E_ARGUMENT) {
      h.log(level::error, "a handler's response has a status or header that HTTP does not allow; sent 500 instead");
      h.http().begin(x, 500, nullptr, 0, 0);
    }
    h.http().finish(x);
  }
  // What a client is told when a handler lets a host call's error through.  The error's own text is for the log: it may
  // say more than a client should know.  CLOSED can only be an upstream's end, as a client that went reads no answer.
  static response answer_to(int32_t code) {
    switch (code) {
      case PORTICO_E_CANCELLED:
        return http_error(503, "shutting_down", "the server is stopping; try again later").answer();
      case PORTICO_E_LIMIT:
        return http_error(503, "overloaded", "the server is busy; try again later").answer();
      case PORTICO_E_TIMEOUT:
        return http_error(504, "timeout", "this took longer than it may").answer();
      case PORTICO_E_UNREACHABLE:
        return http_error(502, "upstream_error", "the server behind this one cannot be reached").answer();
      case PORTICO_E_CLOSED:
      case PORTICO_E_PROTOCOL:
        return http_error(502, "upstream_error", "the server behind this one gave no whole answer").answer();
      default:
        return http_error(500, "internal", "the server could not answer this request").answer();
    }
  }
  static void note(const request& r, level l, const char* what) noexcept {
    char line[256];
    std::snprintf(line, sizeof line, "%.*s: handler threw: %s", static_cast<int>(r.id().size()), r.id().data(), what);
    r.server().log(l, line);
  }
  static detail::detached beside(host h, task<void> t) {
    try {
      co_await t;
    } catch (const error& e) {
      if (e.code() != PORTICO_E_CANCELLED) h.log(level::error, e.what());
    } catch (const std::exception& e) {
      h.log(level::error, e.what());
    } catch (...) {
      h.log(level::error, "a spawned task threw something that is not a std::exception");
    }
    h.raw()->release(h.raw());
  }

  host host_;
  per_loop<detail::frame_pool> pools_;
  std::vector<std::unique_ptr<any_entry>> entries_;
};

namespace detail {

// Shown by `portico plugins` and in refusals, so that a bug report says what the library was built with.
#define PORTICO_TEXT_OF_(x) #x
#define PORTICO_TEXT_OF(x) PORTICO_TEXT_OF_(x)
#if defined(__clang__)
#define PORTICO_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define PORTICO_COMPILER "g++ " __VERSION__
#elif defined(_MSC_VER)
#define PORTICO_COMPILER "MSVC " PORTICO_TEXT_OF(_MSC_FULL_VER)
#else
#define PORTICO_COMPILER "another compiler"
#endif
inline constexpr char build_text[] =
    PORTICO_COMPILER ", SDK " PORTICO_TEXT_OF(PORTICO_ABI_MAJOR) "." PORTICO_TEXT_OF(PORTICO_ABI_MINOR);

template <class P>
struct glue {
  static auto teller(portico_error* e) noexcept {
    return [e](int32_t code, const char* text) {
      e->code = code;
      std::snprintf(e->text, sizeof e->text, "%s", text);
    };
  }
  static int32_t PORTICO_CALL create(const portico_host* h, void** self, portico_error* e) noexcept {
    return guard([&] { *self = static_cast<plugin*>(new P(host(h))); }, teller(e));
  }
  static int32_t PORTICO_CALL start(void* self, portico_error* e) noexcept {
    return guard([&] { static_cast<plugin*>(self)->start(); }, teller(e));
  }
  static void PORTICO_CALL stop(void* self) noexcept { static_cast<plugin*>(self)->stop(); }
  static void PORTICO_CALL destroy(void* self) noexcept { delete static_cast<plugin*>(self); }

  // What the SDK itself needs is in every server of this major; a plugin that calls younger members of a table says so.
  static constexpr uint32_t needs_minor() noexcept {
    if constexpr (requires { P::needs_minor; })
      return P::needs_minor;
    else
      return 0;
  }
  static constexpr const char* const* provides() noexcept {
    if constexpr (requires { P::provides; })
      return P::provides;
    else
      return nullptr;
  }
  static constexpr const char* const* needs() noexcept {
    if constexpr (requires { P::needs; })
      return P::needs;
    else
      return nullptr;
  }
  static constexpr const char* const* uses() noexcept {
    if constexpr (requires { P::uses; })
      return P::uses;
    else
      return nullptr;
  }
  static constexpr const char* const* routes() noexcept {
    if constexpr (requires { P::routes; })
      return P::routes;
    else
      return nullptr;
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace portico

// Once in a library: PORTICO_PLUGIN(Class, id, version, summary, settings...).  Services are named by static members of
// Class: `static constexpr const char* provides[] = {"x.y/1", nullptr};`, likewise needs, and uses (if present); what
// start() may register, for listings, by `static constexpr const char* routes[] = {"GET /x", nullptr};`; the oldest
// server minor it runs on by `static constexpr uint32_t needs_minor = 1;` (0 if not said).
#define PORTICO_PLUGIN(Class, Id, Version, Summary, ...)                                          \
  extern "C" PORTICO_EXPORT const portico_plugin* PORTICO_CALL portico_query(uint32_t major) {    \
    using glue = portico::detail::glue<Class>;                                                    \
    static constexpr portico_setting settings[] = {__VA_ARGS__ __VA_OPT__(, ) portico_setting{}}; \
    static constexpr portico_plugin table = {sizeof(portico_plugin),                              \
                                             glue::needs_minor(),                                 \
                                             Id,                                                  \
                                             Version,                                             \
                                             Summary,                                             \
                                             nullptr,                                             \
                                             portico::detail::build_text,                         \
                                             settings,                                            \
                                             sizeof settings / sizeof *settings - 1,              \
                                             glue::provides(),                                    \
                                             glue::needs(),                                       \
                                             glue::uses(),                                        \
                                             &glue::create,                                       \
                                             &glue::start,                                        \
                                             &glue::stop,                                         \
                                             &glue::destroy,                                      \
                                             glue::routes()};                                     \
    return major == PORTICO_ABI_MAJOR ? &table : nullptr;                                         \
  }
