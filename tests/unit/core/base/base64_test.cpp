#include <catch2/catch.hpp>
#include <string>

#include "core/base/base64.hpp"

using portico::base::base64;

TEST_CASE("base64 gives the vectors of RFC 4648") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("base64 takes every byte") {
  CHECK(base64(std::string("\x00\xff\xfe\xfb", 4)) == "AP/++w==");
  CHECK(base64("\xfb\xff\xbf") == "+/+/");
}
