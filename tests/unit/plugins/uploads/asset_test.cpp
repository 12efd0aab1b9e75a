#include "plugins/uploads/asset.hpp"

#include <catch2/catch.hpp>

#include "plugins/uploads/output_id.hpp"

using namespace portico::uploads;

TEST_CASE("a stored asset is written as the contract's Asset") {
  asset a;
  a.id = "0b8e6a9c-1111-4222-8333-444455556666";
  a.bytes = std::make_shared<blob>();
  a.bytes->hash = "blake3:00";
  a.bytes->size = 5;
  a.content_type = "image/png";
  a.file_path = "a \"b\".png";
  const std::string base =
      R"({"id":"0b8e6a9c-1111-4222-8333-444455556666","hash":"blake3:00","size_bytes":5,)"
      R"("content_type":"image/png","file_path":"a \"b\".png","created_at":"1970-01-01T00:00:00.000000Z",)"
      R"("url":"http://h:1/api/v2/assets/0b8e6a9c-1111-4222-8333-444455556666/content",)"
      R"("url_expires_at":"1970-01-02T00:00:01.000000Z")";
  CHECK(to_json(a, "http://h:1", second, created_new::unsaid) == base + "}");
  CHECK(to_json(a, "http://h:1", second, created_new::yes) == base + R"(,"created_new":true})");
  CHECK(to_json(a, "http://h:1", second, created_new::no) == base + R"(,"created_new":false})");
  a.expires = 60 * second;
  CHECK(to_json(a, "http://h:1", second, created_new::unsaid) ==
        base + R"(,"expires_at":"1970-01-01T00:01:00.000000Z"})");
}

TEST_CASE("an output is written as an Asset without hash and size") {
  const std::string rest = R"({"id":"p.t","hash":null,"size_bytes":0,"content_type":"image/png","file_path":"x.PNG",)"
                           R"("created_at":"1970-01-01T00:00:00.000000Z","url":"http://h/api/v2/assets/p.t/content",)"
                           R"("url_expires_at":"1970-01-02T00:00:00.000000Z")";
  CHECK(to_json(output{"job", {"/o/x.PNG", "s", "output"}}, "p.t", "http://h", 0) == rest + R"(,"job_id":"job"})");
  CHECK(to_json(output{"", {"x.PNG", "", "output"}}, "p.t", "http://h", 0) == rest + "}");
}
