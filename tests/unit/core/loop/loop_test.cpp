#include "core/loop/loop.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace portico::loop;
using std::chrono::milliseconds;

TEST_CASE("what is posted before run and before stop is run, in order") {
  event_loop loop(0);
  std::string order;
  loop.post([&] { order += 'a'; });
  loop.post([&] {
    order += 'b';
    loop.post([&] { order += 'd'; });
    loop.stop();
  });
  loop.post([&] { order += 'c'; });
  loop.run();
  CHECK(order == "abcd");
}

TEST_CASE("stop before run lets run turn once") {
  event_loop loop(0);
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.stop();
  loop.run();
  CHECK(ran);
  CHECK(loop.turns() == 1);
}

TEST_CASE("a loop can be run again") {
  event_loop loop(0);
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    loop.post([&] { ++count; });
    loop.stop();
    loop.run();
  }
  CHECK(count == 3);
}

TEST_CASE("current is the loop that the thread turns") {
  event_loop loop(7);
  CHECK(loop.index() == 7);
  CHECK(event_loop::current() == nullptr);
  event_loop* seen = nullptr;
  bool here = false;
  loop.post([&] {
    seen = event_loop::current();
    here = loop.here();
    loop.stop();
  });
  loop.run();
  CHECK(seen == &loop);
  CHECK(here);
  CHECK_FALSE(loop.here());
}

TEST_CASE("what never ran is dropped with the loop, even if dropping posts again") {
  struct poster {
    event_loop* loop;
    std::shared_ptr<int> held;
    ~poster() {
      if (loop && held) loop->post([keep = held] {});
    }
    poster(event_loop& l, std::shared_ptr<int> h) : loop(&l), held(std::move(h)) {}
    poster(poster&&) = default;
    void operator()() {}
  };
  auto held = std::make_shared<int>(1);
  {
    event_loop loop(0);
    loop.post([held] {});
    loop.post(poster(loop, held));
    CHECK(held.use_count() > 1);
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("posts of many threads all arrive, each thread's in order") {
  constexpr int threads = 4, each = 5000;
  event_loop loop(0);
  std::vector<int> next(threads, 0);
  int arrived = 0;
  bool in_order = true;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        loop.post([&, t, i] {
          in_order = in_order && next[static_cast<std::size_t>(t)]++ == i;
          if (++arrived == threads * each) loop.stop();
        });
        if (i % 500 == 0) std::this_thread::sleep_for(milliseconds(1));  // so that the loop also sleeps
      }
    });
  }
  loop.run();
  for (auto& t : running) t.join();
  CHECK(arrived == threads * each);
  CHECK(in_order);
}

TEST_CASE("two loops hand work to each other") {
  event_loop one(0), two(1);
  std::thread other([&] { two.run(); });
  int rounds = 0;
  struct ping {
    event_loop *home, *away;
    int* rounds;
    void operator()() const {
      if (home->here() && ++*rounds == 2000) {
        away->stop();
        home->stop();
        return;
      }
      event_loop* const next = home->here() ? away : home;
      next->post(ping(*this));
    }
  };
  one.post(ping{&one, &two, &rounds});
  one.run();
  other.join();
  CHECK(rounds == 2000);
}

TEST_CASE("an idle loop sleeps, and a post from elsewhere wakes it") {
  event_loop loop(0);
  std::thread thread([&] { loop.run(); });
  while (!loop.asleep()) std::this_thread::yield();
  const auto before = loop.turns();
  std::this_thread::sleep_for(milliseconds(60));
  CHECK(loop.turns() == before);
  CHECK(loop.asleep());
  std::atomic<bool> ran{false};
  loop.post([&] { ran = true; });
  while (!ran) std::this_thread::yield();
  loop.stop();
  thread.join();
  CHECK(loop.turns() <= before + 2);
}

TEST_CASE("now is the same throughout a turn and moves on with the next") {
  event_loop loop(0);
  clock::time_point first, same, later;
  loop.post([&] {
    first = loop.now();
    std::this_thread::sleep_for(milliseconds(5));
    same = loop.now();
    loop.post([&] {
      later = loop.now();
      loop.stop();
    });
  });
  loop.run();
  CHECK(first == same);
  CHECK(later >= first + milliseconds(5));
}

namespace {

struct counted : turn_end {
  event_loop& loop;
  int calls = 0, again = 0;
  std::vector<std::uint64_t> turns;
  explicit counted(event_loop& l) : loop(l) {}
  ~counted() { loop.forget_turn_end(*this); }
  void on_turn_end() noexcept override {
    ++calls;
    turns.push_back(loop.turns());
    if (again-- > 0) loop.at_turn_end(*this);
  }
};

}  // namespace

TEST_CASE("the end of a turn comes once, after what was posted, however often it was asked for") {
  event_loop loop(0);
  counted end(loop);
  int calls_seen = -1;
  loop.post([&] {
    loop.at_turn_end(end);
    loop.at_turn_end(end);
  });
  loop.post([&] {
    loop.at_turn_end(end);
    calls_seen = end.calls;
    loop.stop();
  });
  loop.run();
  CHECK(calls_seen == 0);
  CHECK(end.calls == 1);
}

TEST_CASE("an end that asks again runs once in each following turn, without a sleep between") {
  event_loop loop(0);
  counted end(loop);
  timer last(
      loop, [](void* l) { static_cast<event_loop*>(l)->stop(); }, &loop);
  loop.post([&] {
    end.again = 5;
    loop.at_turn_end(end);
    last.start(milliseconds(50));
  });
  loop.run();
  REQUIRE(end.turns.size() == 6);
  for (std::size_t i = 1; i < end.turns.size(); ++i) CHECK(end.turns[i] == end.turns[i - 1] + 1);
}

TEST_CASE("ends that keep asking starve neither posts nor sockets nor timers") {
  event_loop loop(0);
  counted end(loop);
  end.again = 1 << 30;
  timer last(
      loop, [](void* l) { static_cast<event_loop*>(l)->stop(); }, &loop);
  bool posted = false;
  loop.post([&] {
    loop.at_turn_end(end);
    last.start(milliseconds(5));
    loop.post([&] { posted = true; });
  });
  loop.run();
  CHECK(posted);
  CHECK(end.calls > 1);
}

TEST_CASE("an end may queue another for the same turn") {
  event_loop loop(0);
  counted second(loop);
  struct first_end : turn_end {
    event_loop& loop;
    turn_end& other;
    std::uint64_t turn = 0;
    first_end(event_loop& l, turn_end& o) : loop(l), other(o) {}
    void on_turn_end() noexcept override {
      turn = loop.turns();
      loop.at_turn_end(other);
    }
  } first(loop, second);
  loop.post([&] {
    loop.at_turn_end(first);
    loop.stop();
  });
  loop.run();
  REQUIRE(second.calls == 1);
  CHECK(second.turns[0] == first.turn);
}

TEST_CASE("an end that was forgotten, or destroyed by an earlier one, is not called") {
  event_loop loop(0);
  counted forgotten(loop), kept(loop);
  auto doomed = std::make_unique<counted>(loop);
  struct killer : turn_end {
    std::unique_ptr<counted>& victim;
    explicit killer(std::unique_ptr<counted>& v) : victim(v) {}
    void on_turn_end() noexcept override { victim.reset(); }
  } kill(doomed);
  loop.post([&] {
    loop.at_turn_end(kill);
    loop.at_turn_end(*doomed);
    loop.at_turn_end(forgotten);
    loop.at_turn_end(kept);
    loop.forget_turn_end(forgotten);
    loop.stop();
  });
  loop.run();
  CHECK(doomed == nullptr);
  CHECK(forgotten.calls == 0);
  CHECK(kept.calls == 1);
}
