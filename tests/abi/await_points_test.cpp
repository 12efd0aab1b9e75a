// Every point a handler can wait at, met by the client going away, and by the server stopping.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "browser.hpp"
#include "rig.hpp"

using namespace std::chrono_literals;

namespace {

const char* const points[] = {"sleep",   "read", "write",   "work",     "ask",   "head",
                              "up-read", "pipe", "pipe-up", "up-write", "ws-up", "nested"};
bool posts(std::string_view point) { return point == "read" || point == "pipe-up"; }

void begin(rig::browser& b, std::string_view point) {
  const std::string target = "/at/" + std::string(point);
  if (posts(point))
    b.request_chunked("POST", target);
  else
    b.request("GET", target);
}

struct servers {
  rig::server far{2}, near{4};
  servers() {
    rig::clear_log();
    far.enable("far", "far");
    REQUIRE(far.start() == "");
    near.enable("fixture", "fixture", {{"upstream", far.url()}})
        .enable("counter", "counter_provider")
        .enable("echo", "echo")
        .enable("sse", "sse", {{"pause", "3ms"}});
    REQUIRE(near.start() == "");
  }
};

}  // namespace

TEST_CASE("a client that goes ends what its handler waits for, and the exchange is given back") {
  servers s;
  for (const char* point : points)
    for (const auto wait : {0ms, 2ms, 30ms})
      for (const bool reset : {false, true}) {
        INFO(point << " after " << wait.count() << " ms, " << (reset ? "reset" : "closed"));
        rig::clear_log();
        rig::browser b(s.near.port());
        begin(b, point);
        REQUIRE(rig::logs_soon(std::string("at ") + point));
        std::this_thread::sleep_for(wait);
        reset ? b.reset() : b.close();
        CHECK(rig::logs_soon(std::string("left ") + point));
      }
  CHECK(s.near.stop());
  CHECK(s.far.stop());
}

TEST_CASE("a stop ends what is in flight at every point, with an answer where one can be given") {
  for (const auto wait : {0ms, 5ms, 60ms}) {
    servers s;
    std::vector<std::unique_ptr<rig::browser>> all;
    const auto open = [&]() -> rig::browser& {
      return *all.emplace_back(std::make_unique<rig::browser>(s.near.port()));
    };
    for (int i = 0; i < 4; ++i) {
      for (const char* point : points) begin(open(), point);
      open().request("GET", "/count");
      open().request("GET", "/sum");
      open().request("GET", "/move/home");
      REQUIRE(open().upgrade("/echo") == 101);
    }
    REQUIRE(rig::logs_soon("at sleep"));
    std::this_thread::sleep_for(wait);
    const auto from = std::chrono::steady_clock::now();
    CHECK(s.near.stop());
    CHECK(std::chrono::steady_clock::now() - from < 4s);
    CHECK(rig::logged("fixture beats 4"));
    const int status = all[0]->read_answer().status;
    CHECK((status == 503 || status == 0));  // 0: its request had not been read yet
    CHECK(s.far.stop());
  }
}

TEST_CASE("a handler that answers after its client left is told so by each call, and nothing else happens") {
  rig::clear_log();
  rig::server s(4);
  s.enable("stubborn", "stubborn");
  REQUIRE(s.start() == "");
  for (int i = 0; i < 8; ++i) {
    rig::clear_log();
    rig::browser b(s.port());
    b.request("GET", "/late");
    REQUIRE(rig::logs_soon("late waits"));
    b.reset();
    CHECK(rig::logs_soon("told -1, begin -1, write -5, finish 0"));
  }
  CHECK(s.stop());
}
