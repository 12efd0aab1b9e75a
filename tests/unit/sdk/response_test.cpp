#include <catch2/catch.hpp>

#include <portico/sdk.hpp>

#include <string>

namespace {

std::string json_of(std::string_view s) {
  std::string out;
  portico::append_json_string(out, s);
  return out;
}

}  // namespace

TEST_CASE("a JSON string is escaped, and what is not UTF-8 becomes the replacement character") {
  CHECK(json_of("plain é 漢 😀") == "\"plain é 漢 😀\"");
  CHECK(json_of("\"\\/\n\r\t\x01\x7f") == "\"\\\"\\\\/\\n\\r\\t\\u0001\\u007f\"");
  CHECK(json_of("\xff") == "\"\xEF\xBF\xBD\"");
  CHECK(json_of("a\xC3") == "\"a\xEF\xBF\xBD\"");                        // cut short
  CHECK(json_of("\xC0\xAF") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");          // overlong
  CHECK(json_of("\xED\xA0\x80").find("\xED") == std::string::npos);      // a surrogate
  CHECK(json_of("\xF4\x90\x80\x80").find("\xF4") == std::string::npos);  // beyond the last code point
  CHECK(json_of(std::string_view("a\0b", 3)) == "\"a\\u0000b\"");
}

TEST_CASE("an http_error is the envelope of its parts") {
  const auto r = portico::http_error(503, "busy", "a \"quoted\" text", "[1]").header("retry-after", "5").answer();
  CHECK(r.status() == 503);
  CHECK(r.body() == "{\"error\":{\"code\":\"busy\",\"message\":\"a \\\"quoted\\\" text\",\"details\":[1]}}");
  r.with_fields([](const portico_field* f, std::size_t n) {
    REQUIRE(n == 2);
    CHECK(portico::view(f[0].value) == "application/json; charset=utf-8");
    CHECK(portico::view(f[1].name) == "retry-after");
    return 0;
  });
}

TEST_CASE("query parameters are decoded, and a broken escape stays") {
  const std::string query = "a=1&b=x+y%21&c=%zz&d&=e&a=2";
  portico_request head{};
  head.query = {query.data(), query.size()};
  portico_host raw{};
  raw.find = [](const portico_host*, const char*) -> const void* { return nullptr; };
  const portico::host h(&raw);
  portico::request r(h, nullptr, &head, nullptr);
  CHECK(r.query("a") == "1");
  CHECK(r.query("b") == "x y!");
  CHECK(r.query("c") == "%zz");
  CHECK(r.query("d").empty());
  CHECK(r.query("gone", "fallback") == "fallback");
}
