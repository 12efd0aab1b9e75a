// Who may ask: bearer tokens, origins, CORS.
#include <catch2/catch.hpp>

#include "stage.hpp"

using namespace e2e;

namespace {

constexpr const char* unknown_job = "/api/v2/jobs/00000000-0000-4000-8000-000000000000";
constexpr const char* page = "https://app.example.test";

std::string ini(const std::string& server_keys) {
  return "[server]\nthreads = 2\n" + server_keys + "[plugins]\nenabled = health\n";
}

}  // namespace

TEST_CASE("with a token every route asks for it, known or not, but health") {
  const stage s("[server]\nthreads = 2\ntoken = s3cret\n");
  const fields right = {{"Authorization", "Bearer s3cret"}};
  CHECK(s.get("/api/v2/health").status == 200);
  for (const char* path : {unknown_job, "/api/v2/jobs", "/api/v2/none"}) {
    const answer a = s.get(path);
    CHECK(a.status == 401);
    CHECK(at(a.body, "error.code") == "unauthorized");
    CHECK(at(a.body, "error.details") == "null");
  }
  CHECK(s.get(unknown_job, right).status == 404);
  CHECK(s.get("/api/v2/none", right).status == 404);
  CHECK(s.submit(quick_graph()).status == 401);
  CHECK(s.submit(quick_graph(), "", right).status == 201);
  CHECK(s.calls("POST /prompt") == 1);
}

TEST_CASE("only the right form of the right token is let in") {
  const stage s("[server]\nthreads = 2\ntoken = s3cret\n");
  for (const char* value : {"", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cre", "Bearer s3crets",
                            "Bearer  s3cret", "Bearer s3cr\xC3\xA9t", "Bearer S3CRET"})
    CHECK(s.get(unknown_job, {{"Authorization", value}}).status == 401);
  CHECK(s.get(unknown_job, {{"Authorization", "bearer s3cret"}}).status == 404);
  CHECK(s.get(unknown_job, {{"Authorization", "BEARER s3cret"}}).status == 404);
}

TEST_CASE("without a token nothing asks for one") {
  const stage s;
  CHECK(s.get(unknown_job).status == 404);
}

TEST_CASE("requests of other sites' pages are refused, the server's own and those without a page are not") {
  const process portico("portico", ini(""));
  const auto status = [&](const fields& headers) { return get(portico.port(), "/api/v2/health", headers).status; };
  CHECK(status({}) == 200);
  CHECK(status({{"Origin", portico.url()}}) == 200);
  CHECK(status({{"Origin", "https://evil.test"}}) == 403);
  CHECK(status({{"Origin", "null"}}) == 403);
  CHECK(status({{"Sec-Fetch-Site", "cross-site"}}) == 403);
  CHECK(status({{"Origin", portico.url()}, {"Sec-Fetch-Site", "cross-site"}}) == 403);
  CHECK(status({{"Sec-Fetch-Site", "same-origin"}, {"Origin", portico.url()}}) == 200);
  CHECK(status({{"Origin", "http://127.0.0.1"}}) == 200);  // a side without a port is compared without ports
  CHECK(status({{"Origin", "http://127.0.0.1:1"}}) == 403);
  const answer a = get(portico.port(), "/api/v2/health", {{"Origin", "https://evil.test"}});
  CHECK(at(a.body, "error.code") == "forbidden_origin");
  CHECK_FALSE(a.has("access-control-allow-origin"));
}

TEST_CASE("a host name of another machine is refused on a loopback address unless it is listed") {
  const process strict("portico", ini("")), listing("portico", ini("hosts = proxy.example.test\n"));
  const fields host = {{"Host", "proxy.example.test"}};
  CHECK(get(strict.port(), "/api/v2/health", host).status == 403);
  CHECK(get(listing.port(), "/api/v2/health", host).status == 200);
  CHECK(get(strict.port(), "/api/v2/health", {{"Host", "localhost:" + std::to_string(strict.port())}}).status == 200);
  CHECK(get(strict.port(), "/api/v2/health", {{"Host", "a.localhost"}}).status == 200);
}

TEST_CASE("a listed origin gets its preflight without a token, and the headers on every answer") {
  const stage s("[server]\nthreads = 2\ntoken = s3cret\ncors = https://app.example.test/, http://other.test:80\n");
  const auto carries = [&](const answer& a, const std::string& origin) {
    CHECK(a.header("access-control-allow-origin") == origin);
    CHECK(a.header("vary").find("Origin") != std::string::npos);
    CHECK(a.header("access-control-expose-headers").find("Retry-After") != std::string::npos);
    CHECK(a.header("access-control-expose-headers").find("Content-Range") != std::string::npos);
  };
  const answer preflight = request(s.port(), "OPTIONS", "/api/v2/jobs", "",
                                   {{"Origin", page},
                                    {"Access-Control-Request-Method", "POST"},
                                    {"Access-Control-Request-Headers", "authorization,idempotency-key"}});
  CHECK(preflight.status == 204);
  carries(preflight, page);
  for (const char* name : {"Authorization", "Content-Type", "Idempotency-Key", "Range"})
    CHECK(preflight.header("access-control-allow-headers").find(name) != std::string::npos);
  CHECK(preflight.header("access-control-allow-methods").find("DELETE") != std::string::npos);

  const answer health = s.get("/api/v2/health", {{"Origin", page}});
  CHECK(health.status == 200);
  carries(health, page);
  const answer refused = s.get(unknown_job, {{"Origin", page}});
  CHECK(refused.status == 401);
  carries(refused, page);
  const answer missing = s.get(unknown_job, {{"Origin", page}, {"Authorization", "Bearer s3cret"}});
  CHECK(missing.status == 404);
  carries(missing, page);
  const answer job =
      s.submit(quick_graph(), "", {{"Origin", page}, {"Authorization", "Bearer s3cret"}, {"Idempotency-Key", "k"}});
  CHECK(job.status == 201);
  carries(job, page);
  CHECK(s.get("/api/v2/health", {{"Origin", "http://other.test"}}).status == 200);
}

TEST_CASE("origins that only resemble a listed one are refused") {
  const process portico("portico", ini("cors = https://app.example.test\n"));
  for (const char* origin :
       {"https://app.example.test.evil.test", "http://app.example.test", "https://app.example.test:8443",
        "https://APP.example.test", "null", "https://app.example.test/"}) {
    const answer a = get(portico.port(), "/api/v2/health", {{"Origin", origin}});
    CHECK(a.status == 403);
    CHECK(at(a.body, "error.code") == "forbidden_origin");
    CHECK_FALSE(a.has("access-control-allow-origin"));
    CHECK(request(portico.port(), "OPTIONS", "/api/v2/health", "",
                  {{"Origin", origin}, {"Access-Control-Request-Method", "GET"}})
              .status == 403);
  }
}

TEST_CASE("OPTIONS is answered without a token") {
  const stage s("[server]\nthreads = 2\ntoken = s3cret\n");
  CHECK(request(s.port(), "OPTIONS", "/api/v2/jobs").status == 200);
}
