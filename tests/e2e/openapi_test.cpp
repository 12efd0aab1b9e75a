// The description of the API is served beside it, word for word.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "stage.hpp"

using namespace e2e;

TEST_CASE("the description of the API is served as it stands in the documentation") {
  process portico("portico", "[plugins]\nenabled = health\n");
  std::ifstream file(PORTICO_OPENAPI, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const answer a = get(portico.port(), "/api/v2/openapi.yaml");
  CHECK(a.status == 200);
  CHECK(a.header("content-type") == "application/yaml");
  CHECK((a.body == text.str()));
  CHECK(a.body.size() > 10'000);
  const answer again = get(portico.port(), "/api/v2/openapi.yaml", {{"If-None-Match", a.header("etag")}});
  CHECK(again.status == 304);
  CHECK(again.header("etag") == a.header("etag"));
  CHECK(request(portico.port(), "HEAD", "/api/v2/openapi.yaml").header("content-length") ==
        std::to_string(a.body.size()));
}
