#include "core/loop/loop.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace portico::loop;
using std::chrono::milliseconds;

namespace {

// A timer that calls a function object.
struct ringer {
  std::function<void()> act;
  timer clockwork;
  ringer(event_loop& loop, std::function<void()> f)
      : act(std::move(f)),
        clockwork(
            loop, [](void* self) { static_cast<ringer*>(self)->act(); }, this) {}
};

}  // namespace

TEST_CASE("timers fire in order of time, equal ones in order of starting") {
  event_loop loop(0);
  std::string order;
  ringer a(loop, [&] { order += 'a'; }), b(loop, [&] { order += 'b'; }), c(loop, [&] { order += 'c'; });
  ringer d(loop, [&] {
    order += 'd';
    loop.stop();
  });
  const auto when = loop.now() + milliseconds(10);
  d.clockwork.start_at(when + milliseconds(5));
  c.clockwork.start_at(when);
  a.clockwork.start_at(when - milliseconds(5));
  b.clockwork.start_at(when);
  loop.run();
  CHECK(order == "acbd");
}

TEST_CASE("a timer never fires early") {
  event_loop loop(0);
  for (const int delay : {1, 3, 20}) {
    clock::time_point fired;
    ringer a(loop, [&] {
      fired = clock::now();
      loop.stop();
    });
    const auto begun = clock::now();
    a.clockwork.start(milliseconds(delay));
    loop.run();
    CHECK(fired - begun >= milliseconds(delay));
  }
}

TEST_CASE("a cancelled timer does not fire, also when cancelled by one that is due with it") {
  event_loop loop(0);
  std::string order;
  ringer never(loop, [&] { order += 'n'; });
  ringer victim(loop, [&] { order += 'v'; });
  ringer first(loop, [&] {
    order += 'f';
    victim.clockwork.cancel();
  });
  ringer last(loop, [&] {
    order += 'l';
    loop.stop();
  });
  const auto when = loop.now();
  never.clockwork.start_at(when);
  first.clockwork.start_at(when);
  victim.clockwork.start_at(when);
  last.clockwork.start_at(when);
  never.clockwork.cancel();
  CHECK_FALSE(never.clockwork.pending());
  loop.run();
  CHECK(order == "fl");
}

TEST_CASE("starting a pending timer moves it") {
  event_loop loop(0);
  std::string order;
  ringer moved(loop, [&] {
    order += 'm';
    loop.stop();
  });
  ringer fixed(loop, [&] { order += 'f'; });
  moved.clockwork.start(milliseconds(1));
  fixed.clockwork.start(milliseconds(10));
  moved.clockwork.start(milliseconds(20));
  loop.run();
  CHECK(order == "fm");
}

TEST_CASE("a timer of no delay runs in the next turn, never in the same") {
  event_loop loop(0);
  std::vector<std::uint64_t> turns;
  std::unique_ptr<ringer> again;
  again = std::make_unique<ringer>(loop, [&] {
    turns.push_back(loop.turns());
    if (turns.size() == 3) return loop.stop();
    if (turns.size() == 1) again->clockwork.start(milliseconds(0));
    if (turns.size() == 2) again->clockwork.start_at(clock::time_point());  // long ago
  });
  again->clockwork.start(milliseconds(-5));
  loop.run();
  REQUIRE(turns.size() == 3);
  CHECK(turns[1] > turns[0]);
  CHECK(turns[2] > turns[1]);
}

TEST_CASE("a timer may be destroyed inside its own callback") {
  struct once {
    event_loop& loop;
    bool& fired;
    timer clockwork;
    once(event_loop& l, bool& f) : loop(l), fired(f), clockwork(l, &once::fire, this) {}
    static void fire(void* user) {
      const std::unique_ptr<once> self(static_cast<once*>(user));
      self->fired = true;
      self->loop.stop();
    }
  };
  event_loop loop(0);
  bool fired = false;
  (new once(loop, fired))->clockwork.start(milliseconds(0));
  loop.run();
  CHECK(fired);
}

TEST_CASE("a timer may outlive its loop") {
  auto loop = std::make_unique<event_loop>(0);
  ringer a(*loop, [] {});
  a.clockwork.start(milliseconds(1000));
  loop.reset();
  CHECK_FALSE(a.clockwork.pending());
}

TEST_CASE("a timer waits no longer than a turn that was held up") {
  event_loop loop(0);
  clock::time_point begun, fired;
  ringer a(loop, [&] {
    fired = clock::now();
    loop.stop();
  });
  loop.post([&] {
    std::this_thread::sleep_for(milliseconds(30));  // a handler that blocks
    begun = clock::now();
    a.clockwork.start(milliseconds(20));
  });
  loop.run();
  CHECK(fired - begun >= milliseconds(20));  // not shortened by the 30
}

TEST_CASE("thousands of timers, moved and cancelled at random, fire exactly as ordered") {
  event_loop loop(0);
  std::mt19937 random(12345);
  constexpr std::size_t count = 3000;
  struct one {
    timer clockwork;
    std::vector<one*>* fired;
    clock::time_point when{};
    one(event_loop& l, std::vector<one*>* f)
        : clockwork(
              l, [](void* self) { static_cast<one*>(self)->fired->push_back(static_cast<one*>(self)); }, this),
          fired(f) {}
  };
  std::vector<one*> fired;
  std::vector<std::unique_ptr<one>> all;
  const auto base = loop.now();
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_unique<one>(loop, &fired));
  for (int round = 0; round < 4; ++round) {
    for (auto& t : all) {
      if (random() % 4 == 0) {
        t->clockwork.cancel();
      } else {
        t->when = base + std::chrono::microseconds(random() % 20000);
        t->clockwork.start_at(t->when);
      }
    }
  }
  std::size_t pending = 0;
  for (auto& t : all) pending += t->clockwork.pending();
  ringer last(loop, [&] { loop.stop(); });
  last.clockwork.start_at(base + milliseconds(21));
  loop.run();
  CHECK(fired.size() == pending);
  for (std::size_t i = 1; i < fired.size(); ++i) REQUIRE(fired[i - 1]->when <= fired[i]->when);
}
