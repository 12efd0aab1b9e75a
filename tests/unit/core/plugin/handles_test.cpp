#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/loop/loop.hpp"
#include "core/plugin/handles.hpp"
#include "core/plugin/host_http.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/manager.hpp"

using namespace portico;
using namespace portico::plugin;

namespace {

class thing final : public object {
 public:
  static constexpr kind its_kind = kind::timer;
  explicit thing(loop_state& home) : object(its_kind, home) {}
  void stop() noexcept override {}
};

// A server of one loop that this thread turns, without plugins.
struct fixture {
  loop::event_loop loop{0};
  std::vector<loop::event_loop*> loops{&loop};
  server_state server;
  described none;
  config::plugin_section section;
  instance owner;
  label where{&owner, "a test"};
  fixture() : server({}, environment_of(loops)), owner(server, section, "/x.so", none) {}
  static environment environment_of(std::vector<loop::event_loop*>& loops) {
    environment e;
    e.loops = loops;
    return e;
  }
  // Runs f on the loop.
  template <class F>
  void on_loop(F f) {
    loop.post([this, &f] {
      f();
      loop.stop();
    });
    loop.run();
  }
  object* find(std::uint64_t handle, kind k = kind::timer) {
    bool wrong = false;
    return handle_table::find(handle, k, &wrong);
  }
};

}  // namespace

TEST_CASE("a handle leads to its object while it is held, and never again") {
  fixture f;
  f.on_loop([&] {
    recycler<thing> things(*f.server.loops[0]);
    thing* t = things.take(f.server.loops[0]->handles, f.owner, f.where);
    REQUIRE(t);
    const std::uint64_t first = t->handle();
    CHECK(first != 0);
    CHECK(f.find(first) == t);
    CHECK(f.find(first, kind::exchange) == nullptr);
    things.give(*t);
    CHECK(f.find(first) == nullptr);
    thing* again = things.take(f.server.loops[0]->handles, f.owner, f.where);
    CHECK(again == t);  // recycled, under another handle
    CHECK(again->handle() != first);
    CHECK(f.find(first) == nullptr);
    things.give(*again);
  });
}

TEST_CASE("handles that were made up lead nowhere") {
  fixture f;
  f.on_loop([&] {
    for (const std::uint64_t made_up : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12345}, ~std::uint64_t{0},
                                        std::uint64_t{0x00007fffdeadbeef}, std::uint64_t{1} << 63})
      CHECK(f.find(made_up) == nullptr);
  });
}

TEST_CASE("a handle is of use on its own loop's thread only") {
  fixture f;
  std::uint64_t handle = 0;
  std::unique_ptr<recycler<thing>> things;
  f.on_loop([&] {
    things = std::make_unique<recycler<thing>>(*f.server.loops[0]);
    handle = things->take(f.server.loops[0]->handles, f.owner, f.where)->handle();
  });
  bool wrong = false;
  CHECK(handle_table::find(handle, kind::timer, &wrong) == nullptr);
  CHECK(wrong);
  f.on_loop([&] { things->give(*static_cast<thing*>(f.find(handle))); });
}

TEST_CASE("what an owner holds on a loop is listed, newest first, and counted") {
  fixture f;
  f.on_loop([&] {
    recycler<thing> things(*f.server.loops[0]);
    std::vector<thing*> held;
    for (int i = 0; i < 5; ++i) held.push_back(things.take(f.server.loops[0]->handles, f.owner, f.where));
    const shard& s = f.owner.shards[0];
    CHECK(s.objects == 5);
    CHECK(s.first == held[4]);
    things.give(*held[2]);
    things.give(*held[4]);
    things.give(*held[0]);
    std::set<object*> left;
    for (object* o = s.first; o; o = o->next_held()) left.insert(o);
    CHECK(left == std::set<object*>{held[1], held[3]});
    CHECK(s.objects == 2);
    things.give(*held[1]);
    things.give(*held[3]);
    CHECK(s.first == nullptr);
  });
}

TEST_CASE("holds and releases are counted where they happen") {
  fixture f;
  f.on_loop([&] {
    f.owner.count_hold();
    f.owner.count_hold();
  });
  std::thread([&] { f.owner.count_release(); }).join();
  CHECK(f.owner.shards[0].holds == 2);
  CHECK(f.owner.shards[1].releases == 1);
}
