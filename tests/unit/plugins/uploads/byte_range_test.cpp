#include "plugins/uploads/byte_range.hpp"

#include <catch2/catch.hpp>

using namespace portico::uploads;

namespace {

// "offset+length" of the range in a file of that size, "416", or "whole" when the header is ignored.
std::string of(std::string_view header, std::uint64_t size = 70) {
  const auto range = parse_range(header);
  if (!range) return "whole";
  const byte_span part = span_of(*range, size);
  return part.length ? std::to_string(part.offset) + "+" + std::to_string(part.length) : "416";
}

std::string again(std::string_view header) {
  const auto range = parse_range(header);
  return range ? to_header(*range) : "whole";
}

}  // namespace

TEST_CASE("a single range selects exactly its bytes") {
  CHECK(of("bytes=0-0") == "0+1");
  CHECK(of("bytes=2-5") == "2+4");
  CHECK(of("bytes=-1") == "69+1");
  CHECK(of("bytes=69-") == "69+1");
  CHECK(of("bytes=0-") == "0+70");
  CHECK(of("bytes=60-1000") == "60+10");
  CHECK(of("bytes=-1000") == "0+70");
  CHECK(of("BYTES = 1-2") == "1+2");
}

TEST_CASE("a range with nothing of the file in it is not satisfiable") {
  CHECK(of("bytes=70-") == "416");
  CHECK(of("bytes=-0") == "416");
  CHECK(of("bytes=18446744073709551616-") == "416");
  CHECK(of("bytes=0-", 0) == "416");
  CHECK(of("bytes=-5", 0) == "416");
}

TEST_CASE("numbers beyond every file count as the largest") {
  CHECK(of("bytes=0-18446744073709551616") == "0+70");
  CHECK(of("bytes=-99999999999999999999999") == "0+70");
  CHECK(of("bytes=18446744073709551616-18446744073709551617") == "416");
}

TEST_CASE("a malformed range, another unit, or several ranges are ignored") {
  for (const char* header : {"",          "abc",           "bytes",       "bytes=",     "bytes=-",
                             "bytes=abc", "bytes=5-4",     "bytes=1-2x",  "bytes=x1-2", "bytes=1--2",
                             "bytes=--2", "bytes=1",       "bytes=0x1-2", "bytes=+1-2", "bytes=1 - 2",
                             "items=0-1", "bytes=0-0,2-3", "bytes=0-0,",  "byte=0-1",   "bytess=0-1"}) {
    INFO(header);
    CHECK(of(header) == "whole");
  }
}

TEST_CASE("a range is passed on in its plainest spelling") {
  CHECK(again("bytes=2-5") == "bytes=2-5");
  CHECK(again("Bytes= 002-5 ") == "bytes=2-5");
  CHECK(again("bytes=7-") == "bytes=7-");
  CHECK(again("bytes=-7") == "bytes=-7");
  CHECK(again("bytes=-0") == "bytes=9223372036854775807-");
  CHECK(again("bytes=0-18446744073709551616") == "bytes=0-");
  CHECK(again("bytes=18446744073709551616-") == "bytes=9223372036854775807-");
}
