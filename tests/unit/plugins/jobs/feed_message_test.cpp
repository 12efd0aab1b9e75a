#include "plugins/jobs/feed_message.hpp"

#include <catch2/catch.hpp>

using comfy::json::dialect;
using comfy::json::document;
using jobs::native;
using jobs::read_native;
using jobs::read_preview;

namespace {

std::string be32(std::uint32_t n) {
  std::string s;
  for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(n >> shift & 255);
  return s;
}

std::string described(const std::string& text, const std::string& image) {
  return be32(4) + be32(static_cast<std::uint32_t>(text.size())) + text + image;
}

native kind_of(const char* text) { return read_native(document(text, {}, dialect::tolerant)).kind; }

}  // namespace

TEST_CASE("a message says its kind, its prompt, its node and its time") {
  const document d(R"({"type":"executing","data":{"prompt_id":"p","node":4,"timestamp":1700000000123}})");
  const auto m = read_native(d);
  CHECK(m.kind == native::executing);
  CHECK(m.prompt_id == "p");
  CHECK(m.node() == "4");
  CHECK(m.timestamp_us() == 1700000000123000);
}

TEST_CASE("what is no message of ComfyUI is passed over") {
  for (const char* text :
       {"", "[1]", "42", "null", "\"status\"", "{}", R"({"type":5})", R"({"type":"feature_flags","data":{}})",
        R"({"type":"crystools.monitor"})", "{\"type\":\"status\"", R"([{"type":"status"}])"})
    CHECK(kind_of(text) == native::other);
}

TEST_CASE("data of any shape is no fault") {
  for (const char* data :
       {"null", "[]", "5", "\"x\"", R"({"prompt_id":5,"node":[]})", R"({"node":null,"timestamp":"x"})"}) {
    const std::string text = std::string(R"({"type":"progress","data":)") + data + "}";
    const document d(text);
    const auto m = read_native(d);
    CHECK(m.kind == native::progress);
    CHECK(m.prompt_id.empty());
    CHECK(m.node().empty());
    CHECK(m.timestamp_us() == 0);
  }
  CHECK(kind_of(R"({"type":"progress"})") == native::progress);
}

TEST_CASE("a plain preview has a format and nothing else") {
  const std::string frames[] = {be32(1) + be32(1) + "IMAGE", be32(1) + be32(2) + "P", be32(1) + be32(9) + ""};
  const auto jpeg = read_preview(frames[0]), png = read_preview(frames[1]), odd = read_preview(frames[2]);
  REQUIRE((jpeg && png && odd));
  CHECK(jpeg->content_type == "image/jpeg");
  CHECK(jpeg->image == "IMAGE");
  CHECK(jpeg->node_id.empty());
  CHECK(jpeg->prompt_id.empty());
  CHECK(png->content_type == "image/png");
  CHECK(odd->content_type == "image/jpeg");
}

TEST_CASE("a described preview names its node, its prompt and its type") {
  const std::string frame =
      described(R"({"image_type":"image/webp","node_id":"7","display_node_id":"6","prompt_id":"p"})", "IMG");
  const auto p = read_preview(frame);
  REQUIRE(p);
  CHECK(p->content_type == "image/webp");
  CHECK(p->node_id == "7");
  CHECK(p->prompt_id == "p");
  CHECK(p->image == "IMG");
}

TEST_CASE("a description that is no object leaves a JPEG of nobody") {
  for (const char* text : {"[]", "null", "", "{", "5"}) {
    const std::string frame = described(text, "IMG");
    const auto p = read_preview(frame);
    REQUIRE(p);
    CHECK(p->content_type == "image/jpeg");
    CHECK(p->node_id.empty());
    CHECK(p->image == "IMG");
  }
}

TEST_CASE("an image type that could forge an event is not passed on") {
  const std::string frame = described("{\"image_type\":\"image/png\\nevent: x\",\"node_id\":1}", "IMG");
  const auto p = read_preview(frame);
  REQUIRE(p);
  CHECK(p->content_type == "image/jpeg");
  CHECK(p->node_id == "1");
}

TEST_CASE("frames that are short, or of another kind, hold no preview") {
  CHECK_FALSE(read_preview(""));
  CHECK_FALSE(read_preview(be32(1) + "123"));
  CHECK_FALSE(read_preview(be32(3) + be32(0) + "text"));
  CHECK_FALSE(read_preview(be32(2) + be32(1) + "x"));
  CHECK_FALSE(read_preview(be32(4) + be32(5) + "{}"));
  CHECK_FALSE(read_preview(be32(4) + be32(0xFFFFFFFF) + "{}"));
}

TEST_CASE("a preview event is one line of JSON with the image in base64") {
  CHECK(jobs::preview_event("7", "image/png", "") == R"({"node_id":"7","content_type":"image/png","data_base64":""})");
  CHECK(jobs::preview_event("7", "image/png", "f") ==
        R"({"node_id":"7","content_type":"image/png","data_base64":"Zg=="})");
  CHECK(jobs::preview_event("7", "image/png", "fo") ==
        R"({"node_id":"7","content_type":"image/png","data_base64":"Zm8="})");
  CHECK(jobs::preview_event("", "image/png", "foob") ==
        R"({"node_id":"","content_type":"image/png","data_base64":"Zm9vYg=="})");
  CHECK(jobs::preview_event("a\r\nb", "x", std::string("\xFF\x00\xFE", 3)) ==
        R"({"node_id":"a\r\nb","content_type":"x","data_base64":"/wD+"})");
}
