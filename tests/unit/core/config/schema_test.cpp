#include "core/config/schema.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace portico::config;

TEST_CASE("sizes are bytes with powers of 1024") {
  CHECK(parse_value(kind::size, "512").number == 512);
  CHECK(parse_value(kind::size, "64k").number == 65'536);
  CHECK(parse_value(kind::size, "10M").number == 10'485'760);
  CHECK(parse_value(kind::size, "2G").number == 2'147'483'648);
  CHECK(parse_value(kind::size, "1T").number == 1'099'511'627'776);
  CHECK(parse_value(kind::size, "0").number == 0);
  for (const char* bad :
       {"", "k", "-1", "+1", "1.5k", "1 k", "1kB", "9223372036854775808", "9007199254740993G", " 1"}) {
    INFO(bad);
    CHECK_FALSE(parse_value(kind::size, bad));
  }
}

TEST_CASE("durations are milliseconds and need a unit, but for zero") {
  CHECK(parse_value(kind::duration, "250ms").number == 250);
  CHECK(parse_value(kind::duration, "30s").number == 30'000);
  CHECK(parse_value(kind::duration, "5m").number == 300'000);
  CHECK(parse_value(kind::duration, "1h").number == 3'600'000);
  CHECK(parse_value(kind::duration, "2d").number == 172'800'000);
  CHECK(parse_value(kind::duration, "0").number == 0);
  for (const char* bad : {"", "30", "s", "-1s", "1.5s", "1 s", "1S", "106751991168d"}) {
    INFO(bad);
    CHECK_FALSE(parse_value(kind::duration, bad));
  }
}

TEST_CASE("integers take a sign and stay inside 64 bits") {
  CHECK(parse_value(kind::integer, "-5").number == -5);
  CHECK(parse_value(kind::integer, "+5").number == 5);
  CHECK(parse_value(kind::integer, "9223372036854775807").number == std::numeric_limits<std::int64_t>::max());
  for (const char* bad : {"", "-", "+", "+-1", "1e3", "0x10", "9223372036854775808", "1 ", "one"}) {
    INFO(bad);
    CHECK_FALSE(parse_value(kind::integer, bad));
  }
}

TEST_CASE("bounds hold at both ends and are named in the unit of the key") {
  CHECK(parse_value(kind::integer, "1", 1, 10));
  CHECK(parse_value(kind::integer, "10", 1, 10));
  CHECK(parse_value(kind::integer, "11", 1, 10).error == "\"11\" is out of range; allowed: 1 to 10");
  CHECK(parse_value(kind::size, "2k", 1, 1024).error == "\"2k\" is out of range; allowed: 1 to 1k");
  CHECK(parse_value(kind::duration, "1ms", 1000, 60'000).error == "\"1ms\" is out of range; allowed: 1s to 1m");
  CHECK(parse_value(kind::integer, "0", 1, std::numeric_limits<std::int64_t>::max()).error ==
        "\"0\" is out of range; allowed: 1 or more");
}

TEST_CASE("booleans are the usual words in any case") {
  for (const char* yes : {"yes", "True", "ON", "1"}) CHECK(parse_value(kind::boolean, yes).number == 1);
  for (const char* no : {"no", "False", "OFF", "0"}) {
    const value v = parse_value(kind::boolean, no);
    CHECK(v);
    CHECK(v.number == 0);
  }
  for (const char* bad : {"", "y", "2", "enable"}) CHECK_FALSE(parse_value(kind::boolean, bad));
}

TEST_CASE("lists are cut at commas and have no empty part") {
  CHECK(parse_value(kind::list, " a , b,c ").items == std::vector<std::string>{"a", "b", "c"});
  CHECK(parse_value(kind::list, "").items.empty());
  for (const char* bad : {",", "a,", ",a", "a,,b"}) CHECK_FALSE(parse_value(kind::list, bad));
}

TEST_CASE("paths become absolute without dots, and empty ones stay empty") {
  CHECK(parse_value(kind::path, "a/../b", 0, 0, "/etc/x").text == "/etc/x/b");
  CHECK(parse_value(kind::path, "/a/./b/", 0, 0, "/etc").text == "/a/b");
  CHECK(parse_value(kind::path, "/", 0, 0, "/etc").text == "/");
  CHECK(parse_value(kind::path, "", 0, 0, "/etc").text == "");
}

TEST_CASE("text and secrets are taken as they are") {
  CHECK(parse_value(kind::text, " a # b ").text == " a # b ");
  CHECK(parse_value(kind::secret, "").error == "");
}

TEST_CASE("an upstream must be named") {
  CHECK(parse_value(kind::upstream, "main").text == "main");
  CHECK_FALSE(parse_value(kind::upstream, ""));
}

TEST_CASE("a long value is cut in its message") {
  CHECK(parse_value(kind::integer, std::string(5000, 'x')).error.size() < 200);
}

TEST_CASE("the suggestion offers the nearest name and all names") {
  const std::string_view known[] = {"store", "workers"};
  CHECK(suggestion("worker", known) == "; did you mean \"workers\"? known: store, workers");
  CHECK(suggestion("zzz", known) == "; known: store, workers");
  CHECK(suggestion("zzz", {}) == "");
}
