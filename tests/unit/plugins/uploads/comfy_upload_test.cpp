#include "plugins/uploads/comfy_upload.hpp"

#include <catch2/catch.hpp>

using namespace portico::uploads;

namespace {

std::string read(std::string_view json) {
  const file_ref f = read_upload_answer(json);
  return f.name.empty() ? "refused" : f.subfolder + "|" + f.name + "|" + f.type;
}

}  // namespace

TEST_CASE("the name that the upstream gives back is the one that is used") {
  CHECK(read(R"({"name":"photo (1).png","subfolder":"","type":"input"})") == "|photo (1).png|input");
  CHECK(read(R"({"name":"a.png","subfolder":"x/y","type":"input","asset":{"id":"1"}})") == "x/y|a.png|input");
  CHECK(read(R"({"name":"a.png"})") == "|a.png|input");
}

TEST_CASE("an upload answer that names no usable file is refused") {
  for (const char* json :
       {"", "[]", "<html>", "{}", R"({"name":""})", R"({"name":5})", R"({"name":"a/b.png"})", R"({"name":".."})",
        R"({"name":"a","subfolder":"../x"})", R"({"name":"a","subfolder":"/x"})", R"({"name":"a","type":"models"})"}) {
    INFO(json);
    CHECK(read(json) == "refused");
  }
}

TEST_CASE("the upstream's own words for a refusal are passed on, without paths of its machine") {
  const std::string status = "the upstream refused the upload with status 413";
  CHECK(upload_refusal(413, "") == status);
  CHECK(upload_refusal(413, "Maximum request body size 104857600 exceeded\n") ==
        status + ": Maximum request body size 104857600 exceeded");
  CHECK(upload_refusal(413, R"({"error":"no room in /home/me/ComfyUI/input left"})") ==
        status + ": no room in (path) left");
  CHECK(upload_refusal(413, R"({"error":{"message":"C:\\ComfyUI is full"}})") == status + ": (path) is full");
  CHECK(upload_refusal(413, R"({"message":"bad"})") == status + ": bad");
  CHECK(upload_refusal(413, R"({"error":{"message":5}})") == status);
  CHECK(upload_refusal(413, "<html>no</html>") == status);
  CHECK(upload_refusal(413, std::string(301, 'x')) == status);
  CHECK(upload_refusal(413, "two\nlines") == status);
}
