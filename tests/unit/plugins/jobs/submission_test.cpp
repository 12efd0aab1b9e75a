#include "plugins/jobs/submission.hpp"

#include <catch2/catch.hpp>
#include <portico/response.hpp>

using jobs::read_submission;
using jobs::submission;

namespace {

// "422 invalid_workflow", or "ok".
std::string verdict(const std::string& body) {
  try {
    read_submission(body);
    return "ok";
  } catch (const portico::http_error& e) {
    return std::to_string(e.status()) + " " + e.code();
  }
}

std::string with(const std::string& more) { return R"({"workflow":{"1":{"class_type":"X","inputs":{}}})" + more + "}"; }

}  // namespace

TEST_CASE("a body that is no JSON object is 400 invalid_request") {
  for (const char* body :
       {"", "{", "[]", "null", "1", "\"x\"", "true", "{\"workflow\":{}", "NaN", "<html>", "{\"workflow\":{}}x"})
    CHECK(verdict(body) == "400 invalid_request");
  CHECK(verdict("{\"workflow\":{\"a\":NaN}}") == "400 invalid_request");
  CHECK(verdict("{\"workflow\":{},\"metadata\":\"\\ud800\"}") == "400 invalid_request");
  CHECK(verdict("{\"workflow\":" + std::string(1000, '[') + std::string(1000, ']') + "}") == "400 invalid_request");
}

TEST_CASE("webhook_url and inputs are reserved, even when empty, and are looked at before the workflow") {
  for (const char* name : {"webhook_url", "inputs"}) {
    CHECK(verdict(with(std::string(",\"") + name + "\":{}")) == "422 invalid_workflow");
    CHECK(verdict(with(std::string(",\"") + name + "\":\"x\"")) == "422 invalid_workflow");
    CHECK(verdict(with(std::string(",\"") + name + "\":null")) == "ok");
    CHECK(verdict(std::string("{\"") + name + "\":{},\"workflow\":{\"nodes\":[],\"links\":[]}}") ==
          "422 invalid_workflow");
  }
}

TEST_CASE("the workflow must be an object") {
  for (const char* body :
       {"{}", "{\"workflow\":null}", "{\"workflow\":[]}", "{\"workflow\":\"x\"}", "{\"workflow\":1}"})
    CHECK(verdict(body) == "422 invalid_workflow");
  CHECK(verdict("{\"workflow\":{}}") == "ok");
}

TEST_CASE("a workflow as the editor saves it is told apart") {
  CHECK(verdict(R"({"workflow":{"nodes":[],"links":[]}})") == "422 workflow_format_ui");
  CHECK(verdict(R"({"workflow":{"nodes":[],"links":null}})") == "422 workflow_format_ui");
  CHECK(verdict(R"({"workflow":{"nodes":[]}})") == "ok");
  CHECK(verdict(R"({"workflow":{"nodes":{},"links":[]}})") == "ok");
  CHECK(verdict(R"({"workflow":{"nodes":[],"links":[]},"metadata":5})") == "422 workflow_format_ui");
}

TEST_CASE("metadata is a string of at most 1024 bytes of UTF-8") {
  std::string e_acute;
  for (int i = 0; i < 512; ++i) e_acute += "\xC3\xA9";
  CHECK(verdict(with(",\"metadata\":\"" + e_acute + "\"")) == "ok");
  CHECK(verdict(with(",\"metadata\":\"" + e_acute + "x\"")) == "422 invalid_request");
  CHECK(verdict(with(",\"metadata\":\"" + std::string(1024, 'a') + "\"")) == "ok");
  CHECK(verdict(with(",\"metadata\":null")) == "ok");
  for (const char* value : {"5", "{}", "[]", "true"})
    CHECK(verdict(with(std::string(",\"metadata\":") + value)) == "422 invalid_request");
  CHECK(read_submission(with(R"(,"metadata":"a\u00e9\n")")).metadata == "a\xC3\xA9\n");
}

TEST_CASE("priority is an integer within a million, and neither true nor 1.0") {
  for (const char* value : {"0", "1000000", "-1000000", "null"})
    CHECK(verdict(with(std::string(",\"priority\":") + value)) == "ok");
  for (const char* value : {"1000001", "-1000001", "true", "1.0", "1e3", "\"1\"", "[]", "99999999999999999999"})
    CHECK(verdict(with(std::string(",\"priority\":") + value)) == "422 invalid_request");
  CHECK(read_submission(with(",\"priority\":-7")).priority == -7);
  CHECK_FALSE(read_submission(with("")).priority);
}

TEST_CASE("extra_data may hold the one key and nothing else") {
  for (const char* value : {"5", "[]", "\"x\"", R"({"other":"x"})", R"({"api_key_comfy_org":null})",
                            R"({"api_key_comfy_org":5})", R"({"api_key_comfy_org":"k","more":1})"})
    CHECK(verdict(with(std::string(",\"extra_data\":") + value)) == "400 invalid_request");
  CHECK(read_submission(with(",\"extra_data\":{}")).extra_data.empty());
  CHECK(read_submission(with(",\"extra_data\":null")).extra_data.empty());
  CHECK(read_submission(with(R"(,"extra_data":{ "api_key_comfy_org" : "k\u00e9y" })")).extra_data ==
        R"({"api_key_comfy_org":"k\u00e9y"})");
}

TEST_CASE("the first check that fails decides") {
  CHECK(verdict(R"({"workflow":{},"metadata":5,"priority":true,"extra_data":5})") == "422 invalid_request");
  CHECK(verdict(R"({"workflow":{},"extra_data":5})") == "400 invalid_request");
}

TEST_CASE("nodes are counted once each, whatever they hold") {
  CHECK(read_submission(R"({"workflow":{"1":{},"2":{},"1":{"inputs":{"a":{}}}}})").node_count == 2);
  CHECK(read_submission(R"({"workflow":{}})").node_count == 0);
}

TEST_CASE("references are found at any depth, in objects and arrays, and replaced as a whole") {
  const std::string body =
      R"({"workflow":{"1":{"inputs":{"image":{"__type":"core/ASSET","info":{"id":"A","nested":{)"
      R"("__type":"core/ASSET"}}},)"
      R"("list":[1.50,{"info":{"hash":"blake3:h"},"__type":"core\/ASSET"}]}},"2":{"seed":18446744073709551616}}})";
  const submission s = read_submission(body);
  REQUIRE(s.references.size() == 2);
  CHECK(s.references[0].id == "A");
  CHECK(s.references[0].hash.empty());
  CHECK(s.references[1].hash == "blake3:h");
  CHECK(jobs::replace_references(s.graph, s.references, {"sub/a \"b\".png", "c.png [output]"}) ==
        R"({"1":{"inputs":{"image":"sub/a \"b\".png","list":[1.50,"c.png [output]"]}},"2":{)"
        R"("seed":18446744073709551616}})");
}

TEST_CASE("the workflow itself may be a reference") {
  const submission s = read_submission(R"({"workflow": {"__type":"core/ASSET","info":{"id":"A"}} })");
  REQUIRE(s.references.size() == 1);
  CHECK(jobs::replace_references(s.graph, s.references, {"x"}) == "\"x\"");
}

TEST_CASE("a reference without an id, or without an info, is named for what it lacks") {
  const submission s = read_submission(
      R"({"workflow":{"a":{"__type":"core/ASSET"},"b":{"__type":"core/ASSET","info":"x"},"c":{)"
      R"("__type":"core/ASSET","info":{}},)"
      R"("d":{"__type":"core/ASSET","info":{"id":5}},"e":{"__type":"core/ASSET","info":{"id":"I","hash":"H"}},)"
      R"("f":{"__type":"other"}}})");
  REQUIRE(s.references.size() == 5);
  CHECK(s.references[0].name() == "<malformed core/ASSET: missing info>");
  CHECK(s.references[1].name() == "<malformed core/ASSET: missing info>");
  CHECK(s.references[2].name() == "<no id>");
  CHECK(s.references[3].name() == "<no id>");
  CHECK(s.references[4].name() == "I");
}
