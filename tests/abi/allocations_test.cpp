// A request to a plugin asks the heap for nothing, once the loops have what they keep.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <string>

#include "browser.hpp"
#include "core/loop/loop.hpp"
#include "rig.hpp"

namespace {

// Calls of operator new on loops, from the server and from plugins, which share it.
std::atomic<long> on_loops{0};

void* counted(std::size_t n) {
  if (portico::loop::event_loop::current()) on_loops.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(n)) return p;
  throw std::bad_alloc();
}

long allocations_for(rig::browser& b, const std::string& target, int requests) {
  for (int i = 0; i < 50; ++i) REQUIRE(b.get(target).status == 200);
  const long before = on_loops;
  for (int i = 0; i < requests; ++i) REQUIRE(b.get(target).status == 200);
  return on_loops - before;
}

}  // namespace

void* operator new(std::size_t n) { return counted(n); }
void* operator new[](std::size_t n) { return counted(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

TEST_CASE("requests on a kept connection ask the heap for nothing, from C and from the SDK") {
  rig::server s(2);
  s.enable("hello_c", "hello_c").enable("hello", "hello");
  REQUIRE(s.start() == "");
  {
    rig::browser b(s.port());
    CHECK(allocations_for(b, "/hello-c", 500) == 0);
    CHECK(allocations_for(b, "/hello/Ada", 200) == 0);
  }
  CHECK(s.stop());
}
