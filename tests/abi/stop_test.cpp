// Stopping: everything in flight ends, who will not let go is named, who holds a loop is named while it does.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "browser.hpp"
#include "rig.hpp"

using namespace std::chrono_literals;

namespace {

std::chrono::milliseconds since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - t);
}

struct stubborn {
  rig::server s{4};
  stubborn() {
    rig::clear_log();
    s.enable("stubborn", "stubborn").enable("hello", "hello");
    REQUIRE(s.start() == "");
  }
};

// A connection to each loop: a new one goes to the loop with the fewest.
std::string loop_of(rig::browser& b) { return b.get("/which").body; }

}  // namespace

TEST_CASE("a plugin that holds nothing stops at once, stop before destroy") {
  stubborn t;
  CHECK(rig::get(t.s.port(), "/which").status == 200);
  const auto from = std::chrono::steady_clock::now();
  CHECK(t.s.stop());
  CHECK(since(from) < 2s);
  CHECK(rig::logged("INFO plugin.stubborn: stubborn stops"));
  CHECK(rig::logged("INFO plugin.stubborn: stubborn is destroyed"));
}

TEST_CASE("a plugin that never finishes is named with what it holds and left alone; the others are destroyed") {
  stubborn t;
  rig::browser b(t.s.port()), other(t.s.port());
  b.request("GET", "/never");
  other.request("GET", "/never");
  std::this_thread::sleep_for(100ms);
  const auto from = std::chrono::steady_clock::now();
  CHECK_FALSE(t.s.stop(0ms, 300ms));
  CHECK(since(from) < 3s);
  CHECK(rig::logged("is left alone: it still holds 2 exchanges (GET /never)"));
  CHECK(rig::logged("WARNING plugin.stubborn: did not let go within 3"));
  CHECK_FALSE(rig::logged("stubborn is destroyed"));
}

TEST_CASE("a hold that is never released is named") {
  stubborn t;
  CHECK(rig::get(t.s.port(), "/hold").body == "held");
  CHECK_FALSE(t.s.stop(0ms, 300ms));
  CHECK(rig::logged("is left alone: it still holds 1 hold"));
}

TEST_CASE("the provider of a service that a stuck plugin uses is told to stop and not destroyed") {
  rig::clear_log();
  rig::server s(2);
  s.enable("p", "provider").enable("n", "needer").enable("fixture", "fixture").enable("counter", "counter_provider");
  REQUIRE(s.start() == "");
  CHECK(s.stop());  // users first, then providers
}

TEST_CASE("work that runs on the pool is waited for, within the patience") {
  {
    stubborn t;
    CHECK(rig::get(t.s.port(), "/pool").body == "begun");
    CHECK(t.s.stop());
    CHECK(rig::logged("the long work is done"));
    CHECK(rig::logged("stubborn is destroyed"));
  }
  stubborn t;
  CHECK(rig::get(t.s.port(), "/pool").body == "begun");
  std::this_thread::sleep_for(50ms);
  CHECK_FALSE(t.s.stop(0ms, 200ms));
  CHECK(rig::logged("is left alone: it still holds 1 work item"));
}

TEST_CASE("a handler that blocks its loop is named with its route within two seconds, and other loops serve on") {
  stubborn t;
  std::vector<std::unique_ptr<rig::browser>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<rig::browser>(t.s.port()));
  const std::string blocked = loop_of(*all[0]);
  const auto from = std::chrono::steady_clock::now();
  all[0]->request("GET", "/block?2600");
  std::this_thread::sleep_for(50ms);
  int served = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    all[i]->request("GET", "/which");
    if (i % 4 == 0) continue;  // on the blocked loop
    served += all[i]->read_answer().status == 200;
  }
  CHECK(served == 6);
  CHECK(since(from) < 1000ms);
  const std::string line = "WARNING plugin.stubborn: has held " + blocked + " for over a second, in GET /block";
  CHECK(rig::logs_soon(line));
  CHECK(since(from) < 2s);
  CHECK(all[4]->read_answer().body == blocked);
  CHECK(all[0]->read_answer().body == blocked);
  CHECK(rig::logs_soon("WARNING plugin.stubborn: let go of " + blocked + " after 2."));
  CHECK(t.s.stop());
}

TEST_CASE("a plugin that holds a loop at the stop is named with it, and left alone") {
  stubborn t;
  std::unique_ptr<rig::browser> b;
  std::vector<std::unique_ptr<rig::browser>> all;
  for (int i = 0; i < 4; ++i) {  // one of the loops that are not the first
    all.push_back(std::make_unique<rig::browser>(t.s.port()));
    if (loop_of(*all.back()) != "loop 0") b = std::move(all.back());
    if (b) break;
  }
  REQUIRE(b);
  b->request("GET", "/block?1500");
  std::this_thread::sleep_for(50ms);
  CHECK_FALSE(t.s.stop(0ms, 300ms));
  CHECK(rig::logged("is still in its GET /block"));
}

TEST_CASE("a slow reader of a stream does not hold the stop up") {
  rig::clear_log();
  rig::server s(4);
  s.enable("fixture", "fixture").enable("counter", "counter_provider").enable("sse", "sse", {{"pause", "1ms"}});
  REQUIRE(s.start() == "");
  rig::browser flood(s.port()), count(s.port());
  flood.request("GET", "/flood");
  count.request("GET", "/count");
  count.read_until("data: 2");
  const auto from = std::chrono::steady_clock::now();
  CHECK(s.stop(200ms));
  CHECK(since(from) < 3s);
}

TEST_CASE("a request during the drain of plugins is told that the server stops") {
  stubborn t;
  rig::browser keeps(t.s.port()), late(t.s.port());
  CHECK(late.get("/which").status == 200);
  keeps.request("GET", "/never");
  std::this_thread::sleep_for(50ms);
  std::thread stopper([&] { t.s.stop(0ms, 500ms); });
  rig::logs_soon("stubborn stops");
  const int status = late.get("/which").status;
  CHECK((status == 503 || status == 0));
  stopper.join();
}
