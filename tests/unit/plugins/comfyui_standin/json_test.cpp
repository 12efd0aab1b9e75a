#include <catch2/catch.hpp>

#include "plugins/comfyui_standin/json.hpp"
#include "plugins/comfyui_standin/knobs.hpp"

using namespace standin;

TEST_CASE("JSON comes back as it was, with the order of keys and every digit") {
  for (const char* text : {"{}", "[]", "null", "true", "-0.50e3", "\"a\\n\\u0001\\\"\"",
                           "{\"b\":1,\"a\":[1,2,{\"c\":null}]}", "{\"seed\":18446744073709551615}"}) {
    const auto value = json::parse(text);
    REQUIRE(value);
    CHECK(value->print() == text);
  }
}

TEST_CASE("what is not JSON, or nested too deep, is refused") {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1} x", "'a'", "\"\xFF\""}) CHECK_FALSE(json::parse(text));
  const std::string deep(1'000'000, '[');
  CHECK_FALSE(json::parse(deep));
  CHECK(json::parse(std::string(400, '[') + std::string(400, ']')));
  CHECK_FALSE(json::parse(std::string(401, '[') + std::string(401, ']')));
}

TEST_CASE("numbers are read in full range") {
  CHECK(json::parse("18446744073709551615")->as_unsigned() == UINT64_MAX);
  CHECK(json::parse("-5")->as_integer() == -5);
  CHECK(json::parse("7.9")->as_integer() == 7);
  CHECK(json::parse("1e300")->as_integer() == INT64_MAX);
  CHECK(json::parse("\"7\"")->as_integer(3) == 3);
}

TEST_CASE("a knob that is not known or has a wrong value is refused, and nothing changes") {
  knobs k;
  const std::string before = k.print().print();
  for (const char* text : {"5", "{\"hang\":1}", "{\"hnag\":true}", "{\"hang\":true,\"step_delay_ms\":-1}",
                           "{\"websocket\":\"x\"}", "{\"faults\":{\"GET /view\":{\"status\":42}}}",
                           "{\"faults\":{\"GET /view\":{\"colour\":1}}}", "{\"filenames\":[1]}"}) {
    CHECK(k.apply(*json::parse(text)));
    CHECK(k.print().print() == before);
  }
  CHECK(k.apply(*json::parse("{\"hnag\":true}"))->find("hang") != std::string::npos);
}

TEST_CASE("what knobs print can be given back to them") {
  knobs k, copy;
  CHECK_FALSE(k.apply(*json::parse(R"({"hang":true,"step_delay_ms":5,"faults":{"GET /view":{"status":500,"times":2}},)"
                                   R"("filenames":["/a b"],"outputs":{"9":{"images":[]}}})")));
  CHECK_FALSE(copy.apply(k.print()));
  CHECK(copy.print().print() == k.print().print());
  CHECK_FALSE(k.apply(*json::parse(R"({"faults":{"GET /view":null}})")));
  CHECK(k.faults.empty());
}
