#include "plugins/uploads/base64url.hpp"

#include <catch2/catch.hpp>

using portico::uploads::base64url;
using portico::uploads::from_base64url;

TEST_CASE("base64url writes the RFC 4648 vectors without padding") {
  CHECK(base64url("") == "");
  CHECK(base64url("f") == "Zg");
  CHECK(base64url("fo") == "Zm8");
  CHECK(base64url("foo") == "Zm9v");
  CHECK(base64url("foobar") == "Zm9vYmFy");
  CHECK(base64url("\xfb\xff\xfe") == "-__-");
}

TEST_CASE("base64url reads back every length it writes") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    INFO(i);
    CHECK(from_base64url(base64url(bytes)) == bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST_CASE("base64url accepts one text form only") {
  CHECK_FALSE(from_base64url("Zg=="));
  CHECK_FALSE(from_base64url("Zg="));
  CHECK_FALSE(from_base64url("+//+"));
  CHECK_FALSE(from_base64url("Zh"));     // unused bits set
  CHECK_FALSE(from_base64url("Zm9"));    // unused bits set
  CHECK_FALSE(from_base64url("Zm9vY"));  // an impossible length
  CHECK_FALSE(from_base64url("Zm 9v"));
  CHECK_FALSE(from_base64url(std::string_view("Zm\0v", 4)));
  CHECK(from_base64url("") == "");
}
