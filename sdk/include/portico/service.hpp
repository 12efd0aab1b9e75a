// portico/service.hpp - using and offering services: C tables by string id.
#pragma once
#include <utility>

#include "operation.hpp"
#include "task.hpp"

namespace portico {
inline namespace v1 {

// A service this plugin uses; false when nobody provides it.  Look it up in start().
template <class Table>
class service {
 public:
  service() = default;
  service(const host& h, const char* id) {
    const int32_t rc = h.service().get(h.raw(), id, &ref_);
    if (rc != PORTICO_E_ABSENT) check(rc);
  }
  explicit operator bool() const noexcept { return ref_.table != nullptr; }
  const Table& table() const noexcept { return *static_cast<const Table*>(ref_.table); }
  void* self() const noexcept { return ref_.self; }

 private:
  portico_service_ref ref_{};
};

// In start(): offers a table; it and self stay valid until the plugin is destroyed.
template <class Table>
void publish(const host& h, const char* id, const Table& table, void* self) {
  check(h.service().provide(h.raw(), id, &table, self));
}

// Awaits a service function: co_await ask(req, [&](auto done, void* u) { return s.table().f(s.self(), done, u); });
// Capture by reference only, as for work.
template <class F>
class [[nodiscard]] ask final : public operation {
 public:
  ask(context c, F f) noexcept : operation(c), f_(f) {}
  void await_resume() const { check(status()); }

 private:
  int32_t start() override { return f_(&operation::done, arg()); }
  F f_;
};

namespace detail {

struct answer_state {
  answer_state** link = nullptr;
  int32_t status = PORTICO_OK;
  bool over = false;
};
inline detached run_answer(host h, task<void> t, portico_done done, void* user, answer_state* state) {
  state->link = &state;
  const auto loop = static_cast<uint32_t>(h.loop_index());
  int32_t status = PORTICO_OK;
  try {
    co_await t;
  } catch (const error& e) {
    status = e.code();
  } catch (const std::exception& e) {
    h.log(level::error, e.what());
    status = PORTICO_E_FAILED;
  } catch (...) {
    status = PORTICO_E_FAILED;
  }
  if (h.loop_index() != static_cast<int32_t>(loop)) co_await move_to(h, loop);
  if (state) {  // the caller is still waiting for our return value
    state->over = true;
    state->status = status;
  } else {
    done(user, status);
    h.raw()->release(h.raw());
  }
}

}  // namespace detail

// The body of a service function written as a coroutine: `return answer(server(), add(n, out), done, user);`.
// Completes by portico's rules, on the loop it was called on, wherever the coroutine has been.  Arguments that are
// borrowed must be copied before its first co_await: take them by value.
inline int32_t answer(const host& h, task<void> t, portico_done done, void* user) noexcept {
  detail::answer_state state;
  h.raw()->hold(h.raw());
  try {
    detail::run_answer(h, std::move(t), done, user, &state);
  } catch (...) {  // no memory for its frame
    h.raw()->release(h.raw());
    return PORTICO_E_FAILED;
  }
  if (!state.over) return *state.link = nullptr, PORTICO_OK;
  h.raw()->release(h.raw());
  return state.status < 0 ? state.status : PORTICO_READY;
}

}  // namespace v1
}  // namespace portico
