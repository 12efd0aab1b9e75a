#include <catch2/catch.hpp>

#include "plugins/comfyui_standin/cache.hpp"
#include "plugins/comfyui_standin/nodes.hpp"
#include "plugins/comfyui_standin/validate.hpp"

using namespace standin;

namespace {

const std::string good =
    R"({"1":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":255}},)"
    R"("2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}})";

json parsed(const std::string& text) {
  const auto value = json::parse(text);
  REQUIRE(value);
  return *value;
}
verdict judged(const std::string& text) {
  return validate(parsed(text), [](const std::string& name) { return name == "here.png"; });
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
std::string error_type(const verdict& v) { return v.error.is_object() ? v.error.find("type")->str() : ""; }
std::string reason(const verdict& v, const std::string& node) {
  const json* entry = v.node_errors.find(node);
  return entry ? entry->find("errors")->items().at(0).find("type")->str() : "";
}

}  // namespace

TEST_CASE("a sound graph is accepted, with its output nodes") {
  const verdict v = judged(good);
  CHECK(v.accepted);
  CHECK(v.targets == std::vector<std::string>{"2"});
  CHECK(v.node_errors.print() == "{}");
}

TEST_CASE("what is wrong with a whole graph is said without node errors") {
  CHECK(error_type(judged("{}")) == "prompt_no_outputs");
  CHECK(error_type(judged("[]")) == "invalid_prompt");
  CHECK(error_type(judged(R"({"1":{"inputs":{}}})")) == "invalid_prompt");
  CHECK(error_type(judged(R"({"1":5})")) == "invalid_prompt");
  const verdict unknown = judged(R"({"7":{"class_type":"NoSuchNode","inputs":{}}})");
  CHECK(error_type(unknown) == "missing_node_type");
  CHECK(unknown.error.find("message")->str().find("NoSuchNode") != std::string::npos);
  CHECK(unknown.error.find("details")->str() == "Node ID '#7'");
}

TEST_CASE("a wrong input is blamed on its node, with the outputs that need it") {
  const verdict v = judged(replaced(good, "\"width\":8,", ""));
  CHECK_FALSE(v.accepted);
  CHECK(error_type(v) == "prompt_outputs_failed_validation");
  CHECK(reason(v, "1") == "required_input_missing");
  const json& entry = *v.node_errors.find("1");
  CHECK(entry.find("dependent_outputs")->print() == "[\"2\"]");
  CHECK(entry.find("class_type")->str() == "EmptyImage");
  CHECK(v.node_errors.find("2") == nullptr);
}

TEST_CASE("each kind of wrong value has its own word") {
  CHECK(reason(judged(replaced(good, "\"width\":8", "\"width\":0")), "1") == "value_smaller_than_min");
  CHECK(reason(judged(replaced(good, "\"width\":8", "\"width\":99999")), "1") == "value_bigger_than_max");
  CHECK(reason(judged(replaced(good, "\"width\":8", "\"width\":\"x\"")), "1") == "invalid_input_type");
  CHECK(reason(judged(replaced(good, "[\"1\",0]", "[\"1\"]")), "2") == "bad_linked_input");
  CHECK(reason(judged(replaced(good, "[\"1\",0]", "\"1\"")), "2") == "bad_linked_input");
  CHECK(reason(judged(replaced(good, "[\"1\",0]", "[\"1\",3]")), "2") == "exception_during_validation");
  CHECK(reason(judged(replaced(good, "[\"1\",0]", "[\"nowhere\",0]")), "2") == "exception_during_validation");
  CHECK(reason(judged(replaced(good, "[\"1\",0]", "[\"2\",0]")), "2") == "exception_during_validation");
  const std::string scale =
      R"({"1":{"class_type":"LoadImage","inputs":{"image":"here.png"}},"3":{"class_type":"ImageScaleBy",)"
      R"("inputs":{"image":["1",0],"upscale_method":"bilinear","scale_by":2}},)"
      R"("2":{"class_type":"PreviewImage","inputs":{"images":["3",0]}}})";
  CHECK(judged(scale).accepted);
  CHECK(reason(judged(replaced(scale, "bilinear", "magic")), "3") == "value_not_in_list");
  CHECK(reason(judged(replaced(scale, "here.png", "gone.png")), "1") == "custom_validation_failed");
}

TEST_CASE("links must fit, cycles and endless chains are refused") {
  const std::string mismatch =
      R"({"1":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},)"
      R"("2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})";
  CHECK(reason(judged(mismatch), "2") == "return_type_mismatch");
  const std::string cycle =
      R"({"1":{"class_type":"ImageInvert","inputs":{"image":["2",0]}},"2":{"class_type":"ImageInvert",)"
      R"("inputs":{"image":["1",0]}},"3":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})";
  CHECK_FALSE(judged(cycle).accepted);
  std::string chain = R"({"0":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":0}})";
  for (int i = 1; i < 5000; ++i)
    chain += ",\"" + std::to_string(i) + R"(":{"class_type":"ImageInvert","inputs":{"image":[")" +
             std::to_string(i - 1) + "\",0]}}";
  chain += R"(,"out":{"class_type":"PreviewImage","inputs":{"images":["4999",0]}}})";
  CHECK_FALSE(judged(chain).accepted);
}

TEST_CASE("one sound output is enough, the others are reported") {
  const verdict v = judged(replaced(good, "}}}", R"(}},"3":{"class_type":"SaveImage","inputs":{"images":["1",0]}}})"));
  CHECK(v.accepted);
  CHECK(v.targets == std::vector<std::string>{"2"});
  CHECK(reason(v, "3") == "required_input_missing");
}

TEST_CASE("only the canonical form of a UUID is one") {
  CHECK(is_canonical_uuid("01234567-89ab-4cde-8f01-23456789abcd"));
  CHECK_FALSE(is_canonical_uuid("01234567-89AB-4cde-8f01-23456789abcd"));
  CHECK_FALSE(is_canonical_uuid("{01234567-89ab-4cde-8f01-23456789abcd}"));
  CHECK_FALSE(is_canonical_uuid("0123456789ab4cde8f0123456789abcd"));
  CHECK_FALSE(is_canonical_uuid(""));
}

TEST_CASE("equal nodes have equal signatures, and a change upstream changes those below it") {
  const auto serial = [](const std::string& name) { return name == "a.png" ? 1u : 2u; };
  const json one = parsed(good),
             reordered = parsed(replaced(good, R"("width":8,"height":8)", R"("height":8,"width":8)")),
             other = parsed(replaced(good, "255", "254"));
  CHECK(signatures(one, serial).of("2") == signatures(reordered, serial).of("2"));
  CHECK(signatures(one, serial).of("2") != signatures(other, serial).of("2"));
  const json loads = parsed(R"({"1":{"class_type":"LoadImage","inputs":{"image":"a.png"}}})");
  CHECK(signatures(loads, serial).of("1") != signatures(loads, [](const std::string&) { return 9u; }).of("1"));
}

TEST_CASE("the cache holds what the last prompt used") {
  node_cache c;
  c.put(1, {});
  c.put(2, {});
  c.keep({2, 3});
  CHECK(c.find(1) == nullptr);
  CHECK(c.find(2) != nullptr);
}

TEST_CASE("annotated file names name their folder") {
  CHECK(file_named("a.png").type == "input");
  CHECK(file_named("sub/a.png [output]").type == "output");
  CHECK(file_named("sub/a.png [output]").path == "sub/a.png");
  CHECK(file_named("a [temp]").path == "a");
}
