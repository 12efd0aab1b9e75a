#include "plugins/uploads/request_text.hpp"

#include <catch2/catch.hpp>
#include <portico/response.hpp>

using namespace portico::uploads;

namespace {

template <class F>
int status_of(F f) {
  try {
    f();
    return 200;
  } catch (const portico::http_error& e) {
    CHECK(e.code() == "invalid_request");
    return e.status();
  }
}

}  // namespace

TEST_CASE("expires_in is a whole number of seconds from a minute to a week") {
  CHECK(read_lifetime("60") == 60 * second);
  CHECK(read_lifetime("604800") == 7 * day);
  for (const char* text :
       {"59", "604801", "abc", "60.5", "", " 60", "60 ", "+60", "0x3c", "-60", "99999999999999999999", "6e1"}) {
    INFO(text);
    CHECK(status_of([&] { read_lifetime(text); }) == 422);
  }
}

TEST_CASE("expires_in in JSON is a number, absent or null") {
  CHECK(json_body(R"({"expires_in":60})").lifetime() == 60 * second);
  CHECK(json_body(R"({"expires_in":null})").lifetime() == 0);
  CHECK(json_body("{}").lifetime() == 0);
  for (const char* text : {"59", "604801", "60.5", "60.0", "\"60\"", "true", "1e3", "{}"}) {
    INFO(text);
    const std::string body = std::string("{\"expires_in\":") + text + "}";
    CHECK(status_of([&] { json_body(body).lifetime(); }) == 422);
  }
}

TEST_CASE("a body that is not JSON, or no object, is refused with 400") {
  for (const char* text : {"", "{", "nonsense", "[]", "null", "1", "\"x\"", "{}x"}) {
    INFO(text);
    CHECK(status_of([&] { json_body body(text); }) == 400);
  }
}

TEST_CASE("a member that must be a string is one") {
  CHECK(json_body(R"({"hash":"a"})").required_text("hash") == "a");
  for (const char* text : {"{}", R"({"hash":null})", R"({"hash":1})", R"({"hash":["a"]})"}) {
    INFO(text);
    CHECK(status_of([&] { json_body(text).required_text("hash"); }) == 422);
  }
}

TEST_CASE("a member that may be absent is absent, null or a string") {
  CHECK_FALSE(json_body("{}").text("p"));
  CHECK_FALSE(json_body(R"({"p":null})").text("p"));
  CHECK(json_body(R"({"p":""})").text("p") == "");
  CHECK(status_of([&] { json_body(R"({"p":5})").text("p"); }) == 422);
}
