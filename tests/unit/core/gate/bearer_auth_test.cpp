#include "core/gate/bearer_auth.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace portico;

namespace {

bool admits(const gate::bearer_auth& auth, const std::vector<http::field>& headers) {
  http::request_head head;
  head.headers = headers;
  return auth.admits(head);
}

}  // namespace

TEST_CASE("without a token everybody is admitted") {
  const gate::bearer_auth none("");
  CHECK_FALSE(none.asks());
  CHECK(admits(none, {}));
  CHECK(admits(none, {{"authorization", "Basic abc"}}));
}

TEST_CASE("the token is asked for byte for byte, the scheme in any case") {
  const gate::bearer_auth auth("s3cret t\xc3\xb6ken");
  CHECK(auth.asks());
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER "}) {
    const std::string value = std::string(scheme) + "s3cret t\xc3\xb6ken";
    CHECK(admits(auth, {{"authorization", value}}));
  }
}

TEST_CASE("missing, malformed and wrong credentials are not admitted") {
  const gate::bearer_auth auth("s3cret");
  for (const char* value :
       {"", "s3cret", "Bearer", "Bearer ", "Bearers3cret", "Basic s3cret", "Bearer  s3cret", "Bearer s3cre",
        "Bearer s3cret0", "Bearer S3CRET", "Bearer s3crets3cret", "Bearer\ts3cret"}) {
    INFO(value);
    CHECK_FALSE(admits(auth, {{"authorization", value}}));
  }
  CHECK_FALSE(admits(auth, {}));
}

TEST_CASE("two Authorization headers are not admitted, even when both are right") {
  const gate::bearer_auth auth("s3cret");
  CHECK_FALSE(admits(auth, {{"authorization", "Bearer s3cret"}, {"authorization", "Bearer s3cret"}}));
}
