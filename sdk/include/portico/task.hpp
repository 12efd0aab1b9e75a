// portico/task.hpp - a coroutine that starts when awaited, and that owns its frame.
#pragma once
#include <atomic>
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "error.hpp"
#include "frame_pool.hpp"

namespace portico {
inline namespace v1 {
namespace detail {

// Whoever comes second, the child that ends or the parent that waits, lets the parent continue.  This handshake, and
// not symmetric transfer, keeps the stack flat: g++ 12 makes no tail call at -O0 or under the sanitizers.  It is atomic
// because a child may have moved to another loop.
struct promise_base : pooled_frame {
  std::coroutine_handle<> waiter{};
  std::exception_ptr failure{};
  std::atomic<bool> second{false};
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> h) const noexcept {
      auto& p = h.promise();
      if (p.second.exchange(true, std::memory_order_acq_rel)) p.waiter.resume();
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }
};
template <class T>
struct promise_value : promise_base {
  std::optional<T> value;
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() { return std::move(*value); }
};
template <>
struct promise_value<void> : promise_base {
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

// Await a task at most once.  Do not destroy one that has started and not ended: everything it waits for ends by itself
// when cancelled.
template <class T = void>
class [[nodiscard]] task {
 public:
  struct promise_type : detail::promise_value<T> {
    // error FAILED when the compiler got this coroutine wrong; see frame_pool::is_sound.
    task get_return_object() {
      const auto handle = std::coroutine_handle<promise_type>::from_promise(*this);
      if (!detail::frame_pool::is_sound(handle.address()))
        throw error(PORTICO_E_FAILED,
                    "g++ got this coroutine wrong: a co_await in the condition of an if or a loop needs "
                    "a local variable in the function; name the awaited value first");
      return task(handle);
    }
  };
  task(task&& o) noexcept : frame_(std::exchange(o.frame_, {})) {}
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  task& operator=(task&&) = delete;
  ~task() {
    if (frame_) frame_.destroy();
  }

  // An awaiter of its own, because g++ 12 copies an awaitable that is named by an expression such as *optional.
  class awaiter {
   public:
    explicit awaiter(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) {
      auto& p = frame_.promise();
      p.waiter = waiter;
      frame_.resume();
      return !p.second.exchange(true, std::memory_order_acq_rel);
    }
    T await_resume() {
      auto& p = frame_.promise();
      if (p.failure) std::rethrow_exception(p.failure);
      return p.take();
    }

   private:
    std::coroutine_handle<promise_type> frame_;
  };
  awaiter operator co_await() const noexcept { return awaiter(frame_); }

 private:
  explicit task(std::coroutine_handle<promise_type> h) noexcept : frame_(h) {}
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {

// A coroutine nobody awaits; it frees its own frame.  What runs in it must not throw.
struct detached {
  struct promise_type : pooled_frame {
    using pooled_frame::operator new;
    template <class Route, class Exchange, class Head>  // the root of a request
    [[gnu::always_inline]] static void* operator new(std::size_t size, Route& route, Exchange*&, const Head*& head) {
      return frame_pool::take(route.pool(head->loop), size);
    }
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

}  // namespace detail
}  // namespace v1
}  // namespace portico
