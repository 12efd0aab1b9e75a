#include "core/gate/cors.hpp"

#include <catch2/catch.hpp>

using namespace portico;

namespace {

bool allows(const gate::cors& c, const std::vector<http::field>& headers) {
  http::request_head head;
  head.headers = headers;
  return c.allows(head);
}

}  // namespace

TEST_CASE("only origins of the list are allowed, byte for byte") {
  const gate::cors c({"https://app.example.test", "http://localhost:3000"});
  CHECK(allows(c, {{"origin", "https://app.example.test"}}));
  CHECK(allows(c, {{"origin", "http://localhost:3000"}}));
  for (const char* other :
       {"https://app.example.test.evil.test", "https://APP.example.test", "http://app.example.test",
        "https://app.example.test/", "https://app.example.test:443", "http://localhost", "null", ""}) {
    INFO(other);
    CHECK_FALSE(allows(c, {{"origin", other}}));
  }
  CHECK_FALSE(allows(c, {}));
}

TEST_CASE("two Origin headers are no allowed origin") {
  const gate::cors c({"https://app.example.test"});
  CHECK_FALSE(allows(c, {{"origin", "https://app.example.test"}, {"origin", "https://app.example.test"}}));
}

TEST_CASE("without a list no origin is allowed") {
  CHECK_FALSE(allows(gate::cors({}), {{"origin", "https://app.example.test"}}));
}
