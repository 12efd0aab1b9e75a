#include "core/loop/workers.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "core/loop/loop.hpp"

using namespace portico;
using namespace portico::loop;
using std::chrono::milliseconds;

namespace {

// A job of two function objects.
struct work {
  std::function<void()> on_pool;
  std::function<void(base::status)> done;
  job piece;
  work(std::function<void()> p, std::function<void(base::status)> d)
      : on_pool(std::move(p)),
        done(std::move(d)),
        piece([](void* self) { static_cast<work*>(self)->on_pool(); },
              [](void* self, base::status s) { static_cast<work*>(self)->done(s); }, this) {}
};

// Holds whoever enters until it is opened.
struct gate {
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};
  void enter() {
    ++inside;
    while (!open) std::this_thread::sleep_for(milliseconds(1));
  }
};

void on_loop(event_loop& loop, std::function<void()> first) {
  loop.post(std::move(first));
  loop.run();
}

}  // namespace

TEST_CASE("work runs on another thread and done on the loop that asked, seeing what was written") {
  event_loop loop(0);
  workers pool(2, 10);
  std::thread::id where;
  int written = 0, read = 0;
  bool here = false;
  base::status status = base::failed;
  work w(
      [&] {
        where = std::this_thread::get_id();
        written = 42;
      },
      [&](base::status s) {
        status = s;
        read = written;
        here = loop.here();
        loop.stop();
      });
  base::status accepted = base::failed;
  on_loop(loop, [&] { accepted = pool.run(w.piece); });
  CHECK(accepted == base::ok);
  CHECK(status == base::ok);
  CHECK(read == 42);
  CHECK(here);
  CHECK(where != std::this_thread::get_id());
}

TEST_CASE("work that throws ends as failed") {
  event_loop loop(0);
  workers pool(1, 1);
  base::status status = base::ok;
  work w([] { throw std::runtime_error("no"); },
         [&](base::status s) {
           status = s;
           loop.stop();
         });
  on_loop(loop, [&] { CHECK(pool.run(w.piece) == base::ok); });
  CHECK(status == base::failed);
}

TEST_CASE("a full queue refuses, and what was refused can be run later") {
  event_loop loop(0);
  workers pool(1, 2);
  gate hold;
  int ended = 0;
  std::vector<std::unique_ptr<work>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<work>([&] { hold.enter(); },
                                         [&](base::status) {
                                           if (++ended == 3) CHECK(pool.run(all[3]->piece) == base::ok);
                                           if (ended == 4) loop.stop();
                                         }));
  }
  on_loop(loop, [&] {
    CHECK(pool.run(all[0]->piece) == base::ok);
    while (hold.inside == 0) std::this_thread::yield();
    CHECK(pool.running() == 1);
    CHECK(pool.run(all[1]->piece) == base::ok);
    CHECK(pool.run(all[2]->piece) == base::ok);
    CHECK(pool.run(all[3]->piece) == base::limit);
    CHECK(pool.run(all[1]->piece) == base::state);
    CHECK(pool.waiting() == 2);
    hold.open = true;
  });
  CHECK(ended == 4);
}

TEST_CASE("idle threads do not count against the capacity") {
  event_loop loop(0);
  workers pool(4, 1);
  int ended = 0;
  std::vector<std::unique_ptr<work>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<work>([] {},
                                         [&](base::status) {
                                           if (++ended == 4) loop.stop();
                                         }));
  }
  on_loop(loop, [&] {
    for (auto& w : all) CHECK(pool.run(w->piece) == base::ok);
  });
  CHECK(ended == 4);
}

TEST_CASE("cancelling what waits ends it without running; cancelling what runs has no effect") {
  event_loop loop(0);
  workers pool(1, 10);
  gate hold;
  bool second_ran = false, third_ran = false;
  base::status first_status = base::failed, second_status = base::failed, third_status = base::failed;
  work third([&] { third_ran = true; },
             [&](base::status s) {
               third_status = s;
               loop.stop();
             });
  work second([&] { second_ran = true; },
              [&](base::status s) {
                second_status = s;
                hold.open = true;  // only now may the first end: cancel needs no free thread
              });
  work first([&] { hold.enter(); }, [&](base::status s) { first_status = s; });
  on_loop(loop, [&] {
    CHECK(pool.run(first.piece) == base::ok);
    while (hold.inside == 0) std::this_thread::yield();
    CHECK(pool.run(second.piece) == base::ok);
    CHECK(pool.run(third.piece) == base::ok);
    pool.cancel(second.piece);
    pool.cancel(second.piece);
    pool.cancel(first.piece);
    CHECK(second_status == base::failed);  // not from inside cancel
    CHECK(pool.run(second.piece) == base::state);
    CHECK(pool.waiting() == 1);
  });
  CHECK(first_status == base::ok);
  CHECK(second_status == base::cancelled);
  CHECK_FALSE(second_ran);
  CHECK(third_status == base::ok);
  CHECK(third_ran);
}

TEST_CASE("a job may be run again, and destroyed, inside its done") {
  struct repeated {
    workers& pool;
    event_loop& loop;
    int& rounds;
    job piece;
    repeated(workers& p, event_loop& l, int& r) : pool(p), loop(l), rounds(r), piece(&on_pool, &done, this) {}
    static void on_pool(void* self) { ++static_cast<repeated*>(self)->rounds; }
    static void done(void* user, base::status) {
      std::unique_ptr<repeated> self(static_cast<repeated*>(user));
      if (self->rounds == 100) return self->loop.stop();
      CHECK(self->pool.run(self->piece) == base::ok);
      self.release();
    }
  };
  event_loop loop(0);
  workers pool(2, 4);
  int rounds = 0;
  on_loop(loop, [&] { CHECK(pool.run((new repeated(pool, loop, rounds))->piece) == base::ok); });
  CHECK(rounds == 100);
}

TEST_CASE("a pool that ends drops what waits and waits for what runs") {
  event_loop loop(0);
  auto pool = std::make_unique<workers>(1, 10);
  gate hold;
  bool first_ended = false, second_ran = false, second_done = false;
  work first(
      [&] {
        hold.enter();
        std::this_thread::sleep_for(milliseconds(20));
        first_ended = true;
      },
      [](base::status) {});
  work second([&] { second_ran = true; }, [&](base::status) { second_done = true; });
  on_loop(loop, [&] {
    CHECK(pool->run(first.piece) == base::ok);
    while (hold.inside == 0) std::this_thread::yield();
    CHECK(pool->run(second.piece) == base::ok);
    hold.open = true;
    pool.reset();
    loop.stop();
  });
  CHECK(first_ended);
  CHECK_FALSE(second_ran);
  CHECK_FALSE(second_done);
}

TEST_CASE("several loops share one pool, each gets its own back") {
  workers pool(3, 1000);
  constexpr int loops = 3, each = 500;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int l = 0; l < loops; ++l) {
    threads.emplace_back([&, l] {
      event_loop loop(static_cast<std::uint32_t>(l));
      int ended = 0, computed = 0;
      std::unique_ptr<work> w;
      w = std::make_unique<work>([&] { ++computed; },
                                 [&](base::status s) {
                                   if (s != base::ok || !loop.here() || computed != ++ended) ++wrong;
                                   if (ended == each) return loop.stop();
                                   if (pool.run(w->piece) != base::ok) ++wrong;
                                 });
      loop.post([&] {
        if (pool.run(w->piece) != base::ok) ++wrong;
      });
      loop.run();
      if (ended != each) ++wrong;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}
