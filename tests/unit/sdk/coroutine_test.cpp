// The traps of coroutines that the SDK answers for: stack, frames, and what the compiler gets wrong.
#include <catch2/catch.hpp>

#include <portico/testing/server.hpp>

#include <string>

#include "hello_plugin.hpp"

using portico::request;
using portico::response;
using portico::task;

namespace {

// Runs a task to its end, without a server.
struct runner {
  struct promise_type {
    runner get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};
template <class T>
runner run_into(task<T> t, std::optional<T>& out, std::string& failure) {
  try {
    out = co_await t;
  } catch (const std::exception& e) {
    failure = e.what();
  }
}
template <class T>
T run(task<T> t) {
  std::optional<T> out;
  std::string failure;
  run_into(std::move(t), out, failure);
  if (!out) throw std::runtime_error(failure);
  return *out;
}

task<int> one() { co_return 1; }
task<int> count(int n) {
  int64_t total = 0;
  for (int i = 0; i < n; ++i) total += co_await one();
  co_return static_cast<int>(total);
}
task<int> deep(int n) {
  const int below = n ? co_await deep(n - 1) : 0;
  co_return below + 1;
}
task<std::string> fails() {
  co_await one();
  throw std::runtime_error("out of a task");
}
task<std::string> passes_on() {
  const std::string s = co_await fails();
  co_return s;
}

// g++ 12 gets these wrong: an await in a condition, and no local variable in the function.
task<int> awaits_in_if() {
  if (co_await one()) {
  }
  co_return 7;
}
task<int> awaits_in_while() {
  while (!co_await one()) {
  }
  co_return 7;
}
// And these right.
task<int> awaits_in_if_with_local() {
  int n = 0;
  if (co_await one()) n = 7;
  co_return n;
}
task<int> names_it_first() {
  const int n = co_await one();
  if (n) co_return 7;
  co_return 0;
}

template <class F>
bool right_or_refused(F f) {
  try {
    return run(f()) == 7;
  } catch (const std::exception& e) {
    return std::string(e.what()).find("name the awaited value first") != std::string::npos;
  }
}

}  // namespace

TEST_CASE("a million awaits that are ready use no stack") { CHECK(run(count(1'000'000)) == 1'000'000); }
TEST_CASE("tasks may await tasks") { CHECK(run(deep(1000)) == 1001); }
TEST_CASE("what is thrown in a task arrives where it is awaited") {
  CHECK_THROWS_WITH(run(passes_on()), "out of a task");
}

TEST_CASE("a coroutine that the compiler got wrong is refused with a text, not run") {
  CHECK(right_or_refused(&awaits_in_if));
  CHECK(right_or_refused(&awaits_in_while));
  CHECK(run(awaits_in_if_with_local()) == 7);
  CHECK(run(names_it_first()) == 7);
}

TEST_CASE("frames are recycled within their pool") {
  portico::detail::frame_pool pool;
  void* a = portico::detail::frame_pool::take(&pool, 100);
  CHECK(portico::detail::frame_pool::is_sound(a));
  portico::detail::frame_pool::give(a);
  CHECK(portico::detail::frame_pool::take(&pool, 100) == a);
  void* b = portico::detail::frame_pool::take(&pool, 100);
  CHECK(b != a);
  void* huge = portico::detail::frame_pool::take(&pool, 10'000);  // from the heap, and back to it
  portico::detail::frame_pool::give(huge);
  portico::detail::frame_pool::give(a);
  portico::detail::frame_pool::give(b);
}
