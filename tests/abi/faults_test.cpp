// Plugins that break the rules of the interface: answered, logged, never a dead server.
#include <catch2/catch.hpp>

#include <string>
#include <thread>

#include "browser.hpp"
#include "rig.hpp"

using namespace std::chrono_literals;

namespace {

struct misuse {
  rig::server s{4};
  misuse() {
    rig::clear_log();
    s.enable("misuse", "misuse");
    REQUIRE(s.start() == "");
  }
  ~misuse() { CHECK(s.stop()); }
};

struct throws {
  rig::server s{4};
  explicit throws(const char* from) {
    rig::clear_log();
    s.enable("throws", "throws", {{"from", from}}).enable("hello", "hello");
    REQUIRE(s.start() == "");
  }
  // After whatever the plugin did, others are served and all can be stopped.
  ~throws() {
    CHECK(rig::get(s.port(), "/hello/you").body == "Hello, you!\n");
    CHECK(s.stop());
  }
};

const char* const internal =
    "{\"error\":{\"code\":\"internal\",\"message\":\"the server could not answer this request\",\"details\":null}}";

}  // namespace

TEST_CASE("each function says at the wrong moment what its header says") {
  misuse m;
  rig::browser b(m.s.port());
  b.request_chunked("POST", "/states");
  CHECK(b.read_answer().body == "ok");
}

TEST_CASE("finish twice, use after giving back, and handles that were made up are refused and logged") {
  misuse m;
  for (int i = 0; i < 3; ++i) CHECK(rig::get(m.s.port(), "/again").body == "ok");
  for (int i = 0; i < 3; ++i) CHECK(rig::get(m.s.port(), "/stale").body == "ok");
  CHECK(rig::logged(
      "WARNING plugin.misuse: portico.http/1 finish: this exchange is not held; it was given back already, or never "
      "given out (in GET /again)"));
  CHECK(rig::logged("WARNING plugin.misuse: portico.client/1 close: this call is not held"));
}

TEST_CASE("a null body is refused, an empty one is not") {
  misuse m;
  CHECK(rig::get(m.s.port(), "/null-body").body == "ok");
}

TEST_CASE("finish without an answer gives 500; fewer bytes than promised break the connection") {
  misuse m;
  const auto none = rig::get(m.s.port(), "/no-answer");
  CHECK(none.status == 500);
  CHECK(none.body == internal);
  CHECK(
      rig::logged("WARNING plugin.misuse: portico.http/1 finish: no response was begun, in GET /no-answer; sent 500"));
  const auto few = rig::get(m.s.port(), "/short");
  CHECK_FALSE(few.whole);
}

TEST_CASE("timers and work: bad arguments, and a cancelled timer completes exactly once") {
  misuse m;
  CHECK(rig::get(m.s.port(), "/ops").body == "ok");
}

#if !defined(PORTICO_CHECK_TAGS)
TEST_CASE("structs that are too small, texts that cannot be read, and what only start may call") {
  misuse m;
  CHECK(rig::get(m.s.port(), "/options").body == "ok");
  CHECK(rig::logged("WARNING plugin.misuse: portico.http/1 route: called outside start()"));
  CHECK(rig::logged("WARNING plugin.misuse: portico.timer/1 after: called inside create()"));
}
#endif

TEST_CASE("what throws out of a handler is answered with 500 and named in the log") {
  for (const char* from : {"request", "request-int", "request-own"}) {
    throws t(from);
    const auto a = rig::get(t.s.port(), "/throws");
    CHECK(a.status == 500);
    CHECK(a.body == internal);
    CHECK(rig::logged(
        "WARNING plugin.throws: portico.http/1: a callback threw, in GET /throws; nothing may leave a callback"));
  }
}

TEST_CASE("a handler that throws with its answer begun breaks it off; with its answer given, nothing more happens") {
  {
    throws t("begun");
    CHECK_FALSE(rig::get(t.s.port(), "/throws").whole);
  }
  throws t("answered");
  CHECK(rig::get(t.s.port(), "/throws").body == "answered");
}

TEST_CASE("what throws out of a completion, a post, a timer or the pool harms nobody") {
  for (const char* from : {"post", "timer", "pool-done"}) {
    INFO(from);
    throws t(from);
    CHECK(rig::get(t.s.port(), "/throws").body == "answered");
    CHECK(rig::logs_soon("threw; nothing may leave a callback"));
  }
  {
    throws t("pool");
    CHECK(rig::get(t.s.port(), "/throws").body == "work failed");
    CHECK(rig::logged("portico.work/1 run: the work threw on the pool"));
  }
  {
    throws t("read");
    rig::browser b(t.s.port());
    b.request_chunked("POST", "/throws");
    std::this_thread::sleep_for(100ms);  // or the read would be ready at once
    b.chunk("x");
    const auto a = b.read_answer();
    CHECK(a.status == 500);
    CHECK(a.body == internal);
  }
  throws t("close");
  rig::browser b(t.s.port());
  b.request("GET", "/throws");
  std::this_thread::sleep_for(20ms);
  b.reset();
  CHECK(rig::logs_soon("told of the close"));
}

TEST_CASE("what throws out of stop and destroy is logged, and the others go on to stop") {
  for (const char* from : {"stop", "stop-int", "destroy"}) {
    rig::clear_log();
    rig::server s(4);
    s.enable("throws", "throws", {{"from", from}}).enable("stubborn", "stubborn");
    REQUIRE(s.start() == "");
    CHECK(s.stop());
    CHECK(rig::logged(std::string("WARNING plugin.throws: ") +
                      std::string(from).substr(0, std::string(from).find('-')) +
                      ": it threw; nothing may leave a callback"));
    CHECK(rig::logged("stubborn is destroyed"));
  }
}
