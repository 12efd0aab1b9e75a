#include "core/base/text.hpp"

#include <array>
#include <cstdint>

#include <catch2/catch.hpp>

using namespace portico::base;

TEST_CASE("case is ignored in ASCII only") {
  CHECK(equal_ignoring_case("Content-LENGTH", "content-length"));
  CHECK_FALSE(equal_ignoring_case("a", "ab"));
  CHECK_FALSE(equal_ignoring_case("\xC3\x84", "\xC3\xA4"));
  CHECK_FALSE(equal_ignoring_case("@", "`"));  // neighbours of the letters, 32 apart as well
  CHECK(starts_with_ignoring_case("BEARER x", "bearer "));
  CHECK_FALSE(starts_with_ignoring_case("bear", "bearer"));
  CHECK(lower(std::string_view("AbZ[")) == "abz[");
}

TEST_CASE("trim removes white space at both ends and keeps what is between") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" \t ").empty());
  CHECK(trim("").empty());
}

TEST_CASE("cut takes a list apart") {
  std::string_view rest = "a,,b";
  CHECK(cut(rest, ',') == "a");
  CHECK(cut(rest, ',').empty());
  CHECK(rest == "b");
  CHECK(cut(rest, ',') == "b");
  CHECK(rest.empty());
}

TEST_CASE("an integer is all of the text and fits") {
  CHECK(parse_integer<std::uint8_t>("255") == std::uint8_t{255});
  CHECK(parse_integer<int>("-5") == -5);
  CHECK(parse_integer<std::int64_t>("9223372036854775807") == INT64_MAX);
  for (const char* bad : {"", "256", "-1", "+1", " 1", "1 ", "1x", "0x1", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_integer<std::uint8_t>(bad));
  }
  CHECK_FALSE(parse_integer<std::int64_t>("9223372036854775808"));
}

TEST_CASE("a segment is percent-decoded") {
  std::string out = "x";
  CHECK(percent_decode("a%20b%2F+%c3%A4%00", out));
  CHECK(out == std::string("xa b/+\xC3\xA4\0", 9));
}

TEST_CASE("a bad percent sequence is refused and leaves the output as it was") {
  for (const char* bad : {"%", "a%2", "%zz", "%2%20", "ab%g0"}) {
    CAPTURE(bad);
    std::string out = "before";
    CHECK_FALSE(percent_decode(bad, out));
    CHECK(out == "before");
  }
}

TEST_CASE("encoding and decoding are inverse for every byte") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::string back;
  REQUIRE(percent_decode(percent_encode(all), back));
  CHECK(back == all);
  CHECK(percent_encode("a-._~Z9/ ") == "a-._~Z9%2F%20");
}

TEST_CASE("UTF-8 is told from what only looks like it") {
  for (const char* good :
       {"", "abc", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(good);
    CHECK(is_utf8(good));
  }
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x98", "a\xFF"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("control characters and stray bytes are escaped, the rest stays") {
  CHECK(escaped("a\nb\r\tc\x1b[31m\x7f") == "a\\nb\\r\\tc\\x1b[31m\\x7f");
  CHECK(escaped(std::string_view("\0", 1)) == "\\x00");
  CHECK(escaped("\xC2\x9B") == "\\xc2\\x9b");  // a terminal's command introducer
  CHECK(escaped("\xFF\xC3\xA4") == "\\xff\xC3\xA4");
  CHECK(escaped("C:\\x") == "C:\\x");
  CHECK(is_plain("gr\xC3\xBC\xC3\x9F"));
  CHECK_FALSE(is_plain("a\n"));
}

TEST_CASE("edit distance counts insertions, removals, replacements and swaps, up to a limit") {
  CHECK(edit_distance("port", "port", 3) == 0);
  CHECK(edit_distance("Port", "port", 3) == 0);
  CHECK(edit_distance("prot", "port", 3) == 1);
  CHECK(edit_distance("por", "port", 3) == 1);
  CHECK(edit_distance("kitten", "sitting", 5) == 3);
  CHECK(edit_distance("", "abc", 5) == 3);
  CHECK(edit_distance("abcdef", "uvwxyz", 2) == 3);
  CHECK(edit_distance("a", "abcdef", 2) == 3);
}

TEST_CASE("the nearest name is offered, and none when all are far") {
  constexpr std::array<std::string_view, 4> known{"workers", "store", "port", "host"};
  CHECK(nearest("worker", known) == "workers");
  CHECK(nearest("prot", known) == "port");
  CHECK(nearest("stroe", known) == "store");
  CHECK(nearest("banana", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest("x", {}).empty());
}
