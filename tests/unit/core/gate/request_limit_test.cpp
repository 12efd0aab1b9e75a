#include "core/gate/request_limit.hpp"

#include <catch2/catch.hpp>
#include <string>

using portico::gate::request_limit;
using namespace std::chrono_literals;

namespace {
const request_limit::time start{std::chrono::hours(1)};
}

TEST_CASE("so many at once, then so many a second") {
  request_limit l(10, 5);
  for (int i = 0; i < 5; ++i) CHECK(l.admit("192.0.2.1", start) == 0);
  CHECK(l.admit("192.0.2.1", start) == 1);
  CHECK(l.admit("192.0.2.1", start + 99ms) == 1);
  CHECK(l.admit("192.0.2.1", start + 100ms) == 0);
  CHECK(l.admit("192.0.2.1", start + 100ms) == 1);
  int passed = 0;
  for (int ms = 0; ms < 10'000; ms += 10)
    passed += l.admit("192.0.2.1", start + 1s + std::chrono::milliseconds(ms)) == 0;
  CHECK(passed >= 100);
  CHECK(passed <= 105);
}

TEST_CASE("the seconds to wait are those after which it passes") {
  request_limit l(1, 3);
  for (int i = 0; i < 3; ++i) CHECK(l.admit("192.0.2.1", start) == 0);
  CHECK(l.admit("192.0.2.1", start) == 1);
  request_limit slow(1, 1);
  CHECK(slow.admit("::1", start) == 0);
  CHECK(slow.admit("::1", start + 1ms) == 1);
  CHECK(slow.admit("::1", start + 1s) == 0);
}

TEST_CASE("clients do not count for each other, an IPv6 /64 is one, and what is no address passes") {
  request_limit l(1, 1);
  CHECK(l.admit("192.0.2.1", start) == 0);
  CHECK(l.admit("192.0.2.2", start) == 0);
  CHECK(l.admit("192.0.2.1", start) == 1);
  CHECK(l.admit("2001:db8::1", start) == 0);
  CHECK(l.admit("2001:db8::2", start) == 1);
  CHECK(l.admit("2001:db8:0:1::2", start) == 0);
  for (int i = 0; i < 3; ++i) CHECK(l.admit("", start) == 0);
}

TEST_CASE("without a limit everybody passes") {
  request_limit l(0, 0);
  CHECK_FALSE(l.limits());
  for (int i = 0; i < 100; ++i) CHECK(l.admit("192.0.2.1", start) == 0);
}

TEST_CASE("more clients than are kept pass uncounted while all are busy, and make room when they are not") {
  request_limit l(1, 1);
  const auto address = [](unsigned i) {
    return "10." + std::to_string(i >> 16 & 255) + "." + std::to_string(i >> 8 & 255) + "." + std::to_string(i & 255);
  };
  for (unsigned i = 0; i < 100'000; ++i) REQUIRE(l.admit(address(i), start) == 0);
  int uncounted = 0;
  for (unsigned i = 0; i < 100'000; ++i) uncounted += l.admit(address(i), start) == 0;
  CHECK(uncounted >= 100'000 - 65'536);
  CHECK(l.admit("192.0.2.1", start + 2s) == 0);
  CHECK(l.admit("192.0.2.1", start + 2s) == 1);
}
