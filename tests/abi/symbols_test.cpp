// Libraries that bring the same names, or a library that the server has too, keep their own.
#include <catch2/catch.hpp>

#include "browser.hpp"
#include "rig.hpp"

TEST_CASE("two libraries that export the same names each see their own, whichever is first") {
  for (const bool reverse : {false, true}) {
    rig::server s(2);
    s.enable("a", reverse ? "symbols_2" : "symbols_1").enable("b", reverse ? "symbols_1" : "symbols_2");
    REQUIRE(s.start() == "");
    CHECK(rig::get(s.port(), "/one").body == "1 one");
    CHECK(rig::get(s.port(), "/two").body == "2 two");
    CHECK(s.stop());
  }
}

TEST_CASE("a plugin with a POCO of its own works beside the server's") {
  rig::server s(2);
  s.enable("poco", "own_poco");
  REQUIRE(s.start() == "");
  const auto a = rig::get(s.port(), "/sha1");
  CHECK(a.status == 200);
  CHECK(a.body == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(s.stop());
}

TEST_CASE("one library may be enabled under two names") {
  rig::server s(2);
  s.enable("one", "filters", {{"name", "one"}}).enable("two", "filters", {{"name", "two"}}).enable("hello", "hello");
  REQUIRE(s.start() == "");
  CHECK(rig::get(s.port(), "/hello/x", "x-two: deny\r\n").body == "two says no");
  CHECK(s.stop());
}
