#include "plugins/uploads/clock.hpp"

#include <catch2/catch.hpp>

using namespace portico::uploads;

TEST_CASE("times are written with six digits and a Z") {
  CHECK(to_text(0) == "1970-01-01T00:00:00.000000Z");
  CHECK(to_text(1'000'000'000 * second + 7) == "2001-09-09T01:46:40.000007Z");
  CHECK(to_text(1'709'164'800 * second) == "2024-02-29T00:00:00.000000Z");
  CHECK(to_text(-1) == "1969-12-31T23:59:59.999999Z");
}

TEST_CASE("a day later differs in the date only") {
  const instant at = now();
  CHECK(to_text(at).substr(10) == to_text(at + day).substr(10));
}

TEST_CASE("HTTP dates have the form of RFC 9110") {
  CHECK(to_http_date(784'111'777 * second) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(to_http_date(784'111'777 * second + 999'999) == "Sun, 06 Nov 1994 08:49:37 GMT");
}
