#include "plugins/uploads/conditions.hpp"

#include <catch2/catch.hpp>

#include "plugins/uploads/clock.hpp"

using namespace portico::uploads;

namespace {

const std::string early = "Sun, 06 Nov 1994 08:49:37 GMT", late = "Mon, 07 Nov 1994 08:49:37 GMT";

}  // namespace

TEST_CASE("If-Range names the version by strong tag or by exact date") {
  CHECK(is_the_version("\"a\"", "\"a\"", late));
  CHECK_FALSE(is_the_version("\"b\"", "\"a\"", late));
  CHECK_FALSE(is_the_version("W/\"a\"", "W/\"a\"", late));
  CHECK_FALSE(is_the_version("\"a\"", "", late));
  CHECK(is_the_version(late, "\"a\"", late));
  CHECK_FALSE(is_the_version(early, "\"a\"", late));
  CHECK_FALSE(is_the_version(late, "\"a\"", early));
  CHECK_FALSE(is_the_version("", "", ""));
}

TEST_CASE("If-None-Match compares weakly, over a list, and knows the star") {
  CHECK(has_it_already("\"a\"", "", "\"a\"", ""));
  CHECK(has_it_already("W/\"a\"", "", "\"a\"", ""));
  CHECK(has_it_already("\"x\", W/\"a\" , \"y\"", "", "\"a\"", ""));
  CHECK(has_it_already(" * ", "", "\"a\"", ""));
  CHECK_FALSE(has_it_already("\"x\", \"y\"", "", "\"a\"", ""));
  CHECK_FALSE(has_it_already("a", "", "\"a\"", ""));
  CHECK_FALSE(has_it_already(",", "", "", ""));
}

TEST_CASE("If-Modified-Since counts only without If-None-Match, and only as a date") {
  CHECK(has_it_already("", late, "", late));
  CHECK(has_it_already("", late, "", early));
  CHECK_FALSE(has_it_already("", early, "", late));
  CHECK_FALSE(has_it_already("\"x\"", late, "\"a\"", early));
  CHECK_FALSE(has_it_already("", "yesterday", "", late));
  CHECK_FALSE(has_it_already("", late, "", ""));
  CHECK_FALSE(has_it_already("", "", "", ""));
}

TEST_CASE("If-Match compares strongly, over a list, and knows the star; If-Unmodified-Since counts only without it") {
  CHECK_FALSE(is_another_version("\"a\"", "", "\"a\"", ""));
  CHECK_FALSE(is_another_version("\"x\", \"a\"", "", "\"a\"", ""));
  CHECK_FALSE(is_another_version(" * ", "", "\"a\"", ""));
  CHECK(is_another_version("\"x\"", "", "\"a\"", ""));
  CHECK(is_another_version("W/\"a\"", "", "\"a\"", ""));
  CHECK(is_another_version("W/\"a\"", "", "W/\"a\"", ""));
  CHECK(is_another_version("\"a\"", "", "", ""));
  CHECK_FALSE(is_another_version("", late, "", late));
  CHECK(is_another_version("", early, "", late));
  CHECK_FALSE(is_another_version("\"a\"", early, "\"a\"", late));
  CHECK_FALSE(is_another_version("", "yesterday", "", late));
  CHECK_FALSE(is_another_version("", early, "", ""));
}

TEST_CASE("HTTP dates are read only in their full form") {
  CHECK(from_http_date(early) == 784'111'777 * second);
  for (const char* text :
       {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, 06 Nov 1994 0x:49:37 GMT"}) {
    INFO(text);
    CHECK_FALSE(from_http_date(text));
  }
}
