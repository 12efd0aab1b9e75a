#include <catch2/catch.hpp>
#include <string>

#include "core/http/router.hpp"

using namespace portico;

namespace {

http::route make(std::string method, std::string pattern, std::string owner = "a") {
  http::route r;
  r.method = std::move(method);
  r.pattern = std::move(pattern);
  r.owner = std::move(owner);
  return r;
}

// The pattern found, or "405 Allow", or "404".
std::string found(const http::router& r, std::string_view method, std::string_view path) {
  const http::router::result result = r.find(method, path);
  if (result.found) return result.found->method + " " + result.found->pattern;
  return result.allowed ? "405 " + r.allow(result.allowed) : "404";
}

}  // namespace

TEST_CASE("router: literals win over parameters, and parameters over the rest") {
  http::router r;
  REQUIRE(r.add(make("GET", "/jobs/{id}")).empty());
  REQUIRE(r.add(make("GET", "/jobs/special")).empty());
  REQUIRE(r.add(make("GET", "/jobs/{rest...}")).empty());
  REQUIRE(r.add(make("GET", "/jobs/{id}/events")).empty());
  REQUIRE(r.add(make("GET", "/{all...}")).empty());
  r.freeze();
  CHECK(found(r, "GET", "/jobs/special") == "GET /jobs/special");
  CHECK(found(r, "GET", "/jobs/7") == "GET /jobs/{id}");
  CHECK(found(r, "GET", "/jobs/special/events") == "GET /jobs/{id}/events");
  CHECK(found(r, "GET", "/jobs/7/x/y") == "GET /jobs/{rest...}");
  CHECK(found(r, "GET", "/else") == "GET /{all...}");
  CHECK(found(r, "GET", "/jobs/") == "GET /{all...}");
}

TEST_CASE("router: parameters are handed on as they stand in the path") {
  http::router r;
  REQUIRE(r.add(make("GET", "/a/{x}/b/{y}")).empty());
  REQUIRE(r.add(make("GET", "/files/{name...}")).empty());
  r.freeze();
  auto result = r.find("GET", "/a/%2e%2e%2fq/b/two");
  REQUIRE(result.found);
  REQUIRE(result.param_count == 2);
  CHECK(result.raw_params[0] == "%2e%2e%2fq");
  CHECK(result.raw_params[1] == "two");
  CHECK(result.found->param_names == std::vector<std::string>{"x", "y"});
  result = r.find("GET", "/files/a/b%20c/");
  REQUIRE(result.found);
  CHECK(result.raw_params[0] == "a/b%20c/");
}

TEST_CASE("router: another method is told which ones there are") {
  http::router r;
  REQUIRE(r.add(make("GET", "/jobs/{id}")).empty());
  REQUIRE(r.add(make("POST", "/jobs")).empty());
  REQUIRE(r.add(make("DELETE", "/jobs/{id}")).empty());
  REQUIRE(r.add(make("PUT", "/jobs/one")).empty());
  r.freeze();
  CHECK(found(r, "POST", "/jobs/7") == "405 GET, HEAD, DELETE, OPTIONS");
  CHECK(found(r, "GET", "/jobs") == "405 POST, OPTIONS");
  CHECK(found(r, "FOO", "/jobs") == "405 POST, OPTIONS");
  CHECK(found(r, "POST", "/jobs/one") == "405 GET, HEAD, PUT, DELETE, OPTIONS");
  CHECK(found(r, "GET", "/jobs/one") == "GET /jobs/{id}");
  CHECK(found(r, "GET", "/nothing") == "404");
}

TEST_CASE("router: HEAD is served by GET unless it has a route of its own") {
  http::router r;
  REQUIRE(r.add(make("GET", "/a")).empty());
  REQUIRE(r.add(make("GET", "/b")).empty());
  REQUIRE(r.add(make("HEAD", "/b")).empty());
  REQUIRE(r.add(make("HEAD", "/c/{hash}")).empty());
  r.freeze();
  CHECK(found(r, "HEAD", "/a") == "GET /a");
  CHECK(found(r, "HEAD", "/b") == "HEAD /b");
  CHECK(found(r, "HEAD", "/c/1") == "HEAD /c/{hash}");
  CHECK(found(r, "GET", "/c/1") == "405 HEAD, OPTIONS");
}

TEST_CASE("router: a path is decoded once, and no other path is made the same") {
  http::router r;
  REQUIRE(r.add(make("GET", "/api/v2/health")).empty());
  REQUIRE(r.add(make("GET", "/api/v2/jobs/{id}")).empty());
  REQUIRE(r.add(make("GET", "/")).empty());
  r.freeze();
  CHECK(found(r, "GET", "/api/v2/%68ealth") == "GET /api/v2/health");
  CHECK(found(r, "GET", "/") == "GET /");
  for (const char* path :
       {"/api/v2/%2568ealth", "//api/v2/health", "/api/v2/./health", "/API/v2/health", "/api/v2/health/",
        "/api/v2%2fhealth", "/api/v2/jobs/../health", "/api/v2/health%00", "/api/v2/jobs/", "*", "", "/api/v2/jobs/%",
        "/api/v2/jobs/%4", "/api/v2/jobs/%zz", "/api/v2\\jobs"}) {
    INFO(path);
    CHECK(found(r, "GET", path) == "404");
  }
  CHECK(found(r, "GET", "/api/v2/jobs/%00") == "GET /api/v2/jobs/{id}");
  CHECK(found(r, "GET", "/api/v2/jobs/" + std::string(5000, 'x')) == "GET /api/v2/jobs/{id}");
  CHECK(found(r, "GET", "/api/v2/" + std::string(1000, 'h')) == "404");
  std::string encoded = "/api/v2/";
  for (int i = 0; i < 2000; ++i) encoded += "%41";
  CHECK(found(r, "GET", encoded) == "404");
}

TEST_CASE("router: a path deeper than any pattern is no hindrance to the rest") {
  http::router r;
  REQUIRE(r.add(make("GET", "/f/{rest...}")).empty());
  REQUIRE(r.add(make("GET", "/x/{a}")).empty());
  r.freeze();
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "/s";
  CHECK(found(r, "GET", "/f" + deep) == "GET /f/{rest...}");
  CHECK(found(r, "GET", "/x" + deep) == "404");
  CHECK(r.find("GET", "/f" + deep).raw_params[0] == std::string_view(deep).substr(1));
}

TEST_CASE("router: a route that is there already is refused with both owners") {
  http::router r;
  REQUIRE(r.add(make("GET", "/jobs/{id}", "a")).empty());
  CHECK(r.add(make("GET", "/jobs/{id}", "b")) == R"(`GET /jobs/{id}` of "b" is already a route of "a")");
  CHECK(r.add(make("GET", "/jobs/{name}", "b")) ==
        R"(`GET /jobs/{name}` of "b" is already a route of "a" (as `/jobs/{id}`))");
  CHECK(r.add(make("POST", "/jobs/{name}", "b")).empty());
  CHECK(r.add(make("GET", "/jobs/{name...}", "b")).empty());
  CHECK_FALSE(r.add(make("GET", "/jobs/{x...}", "c")).empty());
}

TEST_CASE("router: the routes of an owner can be taken back") {
  http::router r;
  REQUIRE(r.add(make("GET", "/one", "a")).empty());
  REQUIRE(r.add(make("GET", "/two", "b")).empty());
  r.remove_owner("a");
  CHECK(r.add(make("GET", "/one", "c")).empty());
  r.freeze();
  REQUIRE(r.routes().size() == 2);
  CHECK(r.routes()[0]->owner == "c");
  CHECK(r.find("GET", "/one").found->owner == "c");
  CHECK_FALSE(r.add(make("GET", "/late")).empty());
}

TEST_CASE("router: what is no pattern is refused") {
  http::router r;
  for (const char* pattern :
       {"",      "jobs",   "//",    "/a//b", "/{",        "/}",       "/{}",
        "/{1a}", "/{a b}", "/x{a}", "/{a}x", "/{a...}/b", "/{a}/{a}", "/a%20b",
        "/a?b",  "/a#b",   "/a b",  "/a\\b", "/.",        "/../x",    "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}"}) {
    INFO(pattern);
    CHECK_FALSE(r.add(make("GET", pattern)).empty());
  }
  for (const char* method : {"", "get", "G T", "GET\n"}) CHECK_FALSE(r.add(make(method, "/a")).empty());
  CHECK(r.routes().empty());
}

TEST_CASE("router: thousands of routes are found one by one") {
  http::router r;
  for (int i = 0; i < 3000; ++i) REQUIRE(r.add(make("GET", "/r" + std::to_string(i) + "/{id}")).empty());
  r.freeze();
  for (int i = 0; i < 3000; ++i)
    CHECK(found(r, "GET", "/r" + std::to_string(i) + "/7") == "GET /r" + std::to_string(i) + "/{id}");
  CHECK(found(r, "GET", "/r3000/7") == "404");
}
