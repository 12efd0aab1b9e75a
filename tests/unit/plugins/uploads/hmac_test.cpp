#include "plugins/uploads/hmac.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace portico::uploads;

namespace {

std::string hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace

TEST_CASE("HMAC-SHA256 gives the values of RFC 4231") {
  CHECK(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hex(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd'))) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  CHECK(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("the constant-time comparison is equality") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(equal_in_constant_time("xbc", "abc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abcd"));
  CHECK_FALSE(equal_in_constant_time("abc", ""));
}

TEST_CASE("random bytes have the length asked for and do not repeat") {
  CHECK(random_bytes(0).empty());
  CHECK(random_bytes(5).size() == 5);
  CHECK(random_bytes(32).size() == 32);
  CHECK(random_bytes(32) != random_bytes(32));
}

TEST_CASE("a random UUID is version 4 in canonical lower case and has no dot") {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string id = random_uuid();
    REQUIRE(id.size() == 36);
    CHECK(id.find_first_not_of("0123456789abcdef-") == std::string::npos);
    CHECK((id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-'));
    CHECK(id[14] == '4');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    CHECK(seen.insert(id).second);
  }
}
