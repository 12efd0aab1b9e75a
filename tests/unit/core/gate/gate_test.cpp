// The order of the steps, over the real engine.
#include "core/gate/gate.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <catch2/catch.hpp>

#include "running_gate.hpp"

using namespace portico;

namespace {

const char* const app = "https://app.example.test";

gate::settings with_token() {
  gate::settings s;
  s.token = "s3cret";
  return s;
}

gate::settings with_cors(std::string token = {}) {
  gate::settings s;
  s.cors = {app};
  s.token = std::move(token);
  return s;
}

void check_cors_headers(const response& r) {
  CHECK(r.header("access-control-allow-origin") == app);
  CHECK(r.header("vary") == "Origin");
  CHECK(r.header("access-control-allow-methods") == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  CHECK(r.header("access-control-allow-headers") == "Authorization, Content-Type, Idempotency-Key, Range");
  CHECK(r.header("access-control-expose-headers") == "Retry-After, Content-Range, Accept-Ranges, Content-Length");
  CHECK(r.header("access-control-allow-credentials") == "true");
  CHECK(r.header("access-control-max-age") == "600");
}

std::string origin(const std::string& o) { return "Origin: " + o + "\r\n"; }

}  // namespace

TEST_CASE("a request that passes reaches its route with parameters") {
  running_gate g{gate::settings{}};
  const response r = ask(g.port(), "GET /api/v2/jobs/a%2Fb");
  CHECK(r.status == 200);
  CHECK(r.body == "echo GET id=a/b");
}

TEST_CASE("HEAD is answered by the GET route without a body") {
  running_gate g{gate::settings{}};
  const response r = ask(g.port(), "HEAD /api/v2/health");
  CHECK(r.status == 200);
  CHECK(r.body.empty());
}

TEST_CASE("an unknown path is 404 not_found") {
  running_gate g{gate::settings{}};
  for (const char* path : {"/", "/api/v2", "/api/v2/nothing", "/api/v2/health/", "/API/v2/health", "//api/v2/health",
                           "/api/v2/./health"}) {
    INFO(path);
    const response r = ask(g.port(), std::string("GET ") + path);
    CHECK(r.status == 404);
    CHECK(r.code() == "not_found");
  }
}

TEST_CASE("a wrong method is 405 method_not_allowed with the methods the path has") {
  running_gate g{gate::settings{}};
  const response r = ask(g.port(), "DELETE /api/v2/jobs");
  CHECK(r.status == 405);
  CHECK(r.code() == "method_not_allowed");
  for (const char* method : {"GET", "HEAD", "POST", "OPTIONS"}) CHECK_THAT(r.header("allow"), Catch::Contains(method));
  CHECK_THAT(r.header("allow"), !Catch::Contains("DELETE"));
}

TEST_CASE("OPTIONS is answered on any path, and names the methods of a known one") {
  running_gate g(with_token());
  const response known = ask(g.port(), "OPTIONS /api/v2/jobs");
  CHECK(known.status == 200);
  CHECK_THAT(known.header("allow"), Catch::Contains("POST"));
  CHECK(known.header("access-control-allow-origin").empty());
  const response unknown = ask(g.port(), "OPTIONS /nowhere");
  CHECK(unknown.status == 200);
  CHECK(unknown.headers.count("allow") == 0);
  CHECK(unknown.body.empty());
  CHECK(ask(g.port(), "OPTIONS *").status == 200);
}

TEST_CASE("with a token every route asks for it but those that are open") {
  running_gate g(with_token());
  const response r = ask(g.port(), "GET /api/v2/jobs");
  CHECK(r.status == 401);
  CHECK(r.code() == "unauthorized");
  CHECK(r.header("www-authenticate") == "Bearer");
  CHECK_THAT(r.body, Catch::Contains("\"details\":null"));
  CHECK_THAT(r.body, !Catch::Contains("s3cret"));
  CHECK(ask(g.port(), "GET /api/v2/health").status == 200);
  CHECK(ask(g.port(), "HEAD /api/v2/health").status == 200);
  CHECK(ask(g.port(), "GET /api/v2/jobs\r\nAuthorization: Bearer s3cre\r\n").status == 401);
  CHECK(ask(g.port(), "GET /api/v2/jobs\r\nAuthorization: Bearer s3cret\r\n").body == "echo GET token=default");
}

TEST_CASE("without the token nobody learns which routes there are") {
  running_gate g(with_token());
  CHECK(ask(g.port(), "GET /api/v2/nothing").status == 401);
  CHECK(ask(g.port(), "GET /").status == 401);
  CHECK(ask(g.port(), "DELETE /api/v2/jobs").status == 401);
  CHECK(ask(g.port(), "GET /api/v2/nothing\r\nAuthorization: Bearer s3cret\r\n").status == 404);
  CHECK(ask(g.port(), "DELETE /api/v2/jobs\r\nAuthorization: Bearer s3cret\r\n").status == 405);
  CHECK(ask(g.port(), "POST /api/v2/health\r\nContent-Length: 0\r\n").status == 405);
}

TEST_CASE("a foreign page is 403 forbidden_origin before anything else, without CORS headers") {
  for (const gate::settings& s : {gate::settings{}, with_token(), with_cors()}) {
    running_gate g(s);
    for (const char* path : {"/api/v2/health", "/api/v2/jobs", "/nowhere"}) {
      const response r = ask(g.port(), std::string("GET ") + path + "\r\n" + origin("https://evil.test"));
      CHECK(r.status == 403);
      CHECK(r.code() == "forbidden_origin");
      CHECK(r.headers.count("access-control-allow-origin") == 0);
    }
    CHECK(ask(g.port(),
              "OPTIONS /api/v2/jobs\r\n" + origin("https://evil.test") + "Access-Control-Request-Method: POST\r\n")
              .status == 403);
    CHECK(ask(g.port(), "GET /api/v2/health\r\n" + origin("null")).status == 403);
  }
}

TEST_CASE("a page of a listed origin can preflight without a token") {
  running_gate g(with_cors("s3cret"));
  const response r = ask(g.port(), "OPTIONS /api/v2/jobs\r\n" + origin(app) +
                                       "Access-Control-Request-Method: POST\r\n"
                                       "Access-Control-Request-Headers: authorization,idempotency-key\r\n");
  CHECK(r.status == 204);
  check_cors_headers(r);
  CHECK(r.headers.count("access-control-allow-private-network") == 0);
}

TEST_CASE("private network access is granted when it is asked for") {
  running_gate g(with_cors());
  const response r =
      ask(g.port(), "OPTIONS /api/v2/jobs\r\n" + origin(app) + "Access-Control-Request-Private-Network: true\r\n");
  CHECK(r.status == 204);
  CHECK(r.header("access-control-allow-private-network") == "true");
}

TEST_CASE("every answer to a listed origin has the CORS headers, errors too") {
  running_gate g(with_cors("s3cret"));
  const std::string from = "\r\n" + origin(app);
  const std::string token = "Authorization: Bearer s3cret\r\n";
  const std::pair<std::string, int> requests[] = {
      {"GET /api/v2/health" + from, 200},
      {"GET /api/v2/jobs" + from, 401},
      {"GET /nowhere" + from + token, 404},
      {"DELETE /api/v2/jobs" + from + token, 405},
      {"POST /api/v2/jobs" + from + token + "Content-Length: 1000\r\n", 413}};
  for (const auto& [head, status] : requests) {
    INFO(head);
    const response r = ask(g.port(), head);
    CHECK(r.status == status);
    check_cors_headers(r);
  }
}

TEST_CASE("origins that only look like a listed one are refused") {
  running_gate g(with_cors());
  for (const char* other :
       {"https://app.example.test.evil.test", "null", "https://APP.example.test", "http://app.example.test"}) {
    INFO(other);
    const response r = ask(g.port(), "GET /api/v2/health\r\n" + origin(other));
    CHECK(r.status == 403);
    CHECK(r.header("vary") == "Origin");
    CHECK(r.headers.count("access-control-allow-origin") == 0);
  }
}

TEST_CASE("a foreign host name is refused on a loopback bind, also in the absolute form of the target") {
  gate::settings s;
  s.hosts = {"proxy.example.test"};
  running_gate g(s);
  CHECK(ask(g.port(), "GET /api/v2/health\r\nHost: evil.test\r\n").code() == "forbidden_origin");
  CHECK(ask(g.port(), "GET http://evil.test/api/v2/health").status == 403);
  CHECK(ask(g.port(), "GET /api/v2/health\r\nHost: proxy.example.test\r\n").status == 200);
  CHECK(ask(g.port(), "GET http://proxy.example.test/api/v2/health").status == 200);
}

TEST_CASE("a body longer than its route allows is 413 before it is read") {
  running_gate g{gate::settings{}};
  const response r = ask(g.port(), "POST /api/v2/jobs\r\nContent-Length: 65\r\n");
  CHECK(r.status == 413);
  CHECK(r.code() == "payload_too_large");
  CHECK(ask(g.port(), "POST /api/v2/jobs\r\nContent-Length: 3\r\n", "abc").status == 200);
}

TEST_CASE("the access log has one line for each answer, and no query") {
  // Standard output goes to a file while the gate lives; it writes what is left when it ends.
  std::FILE* const file = std::tmpfile();
  std::fflush(stdout);
  const int before = ::dup(1);
  REQUIRE(::dup2(::fileno(file), 1) == 1);
  {
    gate::settings s;
    s.access_log = portico::gate::log_format::text;
    running_gate g(s);
    ask(g.port(), "GET /api/v2/jobs/7?token=secret");
    ask(g.port(), "GET /nowhere");
  }
  std::fflush(stdout);
  ::dup2(before, 1);
  ::close(before);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK_THAT(text, Catch::Contains(" 127.0.0.1 GET /api/v2/jobs/7 200 13 "));
  CHECK_THAT(text, Catch::Contains(" 127.0.0.1 GET /nowhere 404 "));
  CHECK_THAT(text, Catch::Contains(" echo\n"));
  CHECK_THAT(text, Catch::EndsWith(" -\n"));
  CHECK_THAT(text, !Catch::Contains("secret"));
}
