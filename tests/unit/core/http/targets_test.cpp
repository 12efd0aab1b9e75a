// Odd targets, all the way from the wire to the route: decoded once, matched as they are.
#include <catch2/catch.hpp>

#include "core/http/router.hpp"
#include "support.hpp"

using namespace testing_http;

namespace {

// A server with the routes of a small API that answers as the gate does: 404, or 405 with Allow.
struct small_api {
  http::router routes;
  small_api() {
    for (const auto& [method, pattern] : {std::pair("GET", "/api/v2/health"), std::pair("GET", "/api/v2/jobs/{id}"),
                                          std::pair("GET", "/api/v2/assets/{id}/content")}) {
      http::route r;
      r.method = method;
      r.pattern = pattern;
      r.owner = "test";
      REQUIRE(routes.add(std::move(r)).empty());
    }
    routes.freeze();
  }
  void operator()(http::exchange& e) const {
    const http::router::result found = routes.find(e.head().method, e.head().path);
    if (found.found) {
      e.set_match(found.found, {found.raw_params, found.param_count});
      std::string text(found.found->pattern);
      for (const http::field& f : e.params()) text.append(" ").append(f.name).append("=").append(f.value);
      return http::answer(e, 200, "text/plain", text);
    }
    const std::string allow = routes.allow(found.allowed);
    const http::field header{"Allow", allow};
    if (found.allowed) return http::answer_error(e, 405, "method_not_allowed", "no", {&header, 1});
    http::answer_error(e, 404, "not_found", "no");
  }
};

}  // namespace

TEST_CASE("targets: odd paths match nothing but themselves") {
  const small_api api;
  running_server s([&](http::exchange& e) { api(e); });
  const auto ask = [&](std::string_view method, std::string_view target, bool head = false) {
    client c(s.port());
    return read_response(c.send(request(method, target)), head);
  };
  CHECK(ask("GET", "/api/v2/health").status == 200);
  CHECK(ask("GET", "/api/v2/jobs/%2e%2e%2fqueue").body == "/api/v2/jobs/{id} id=../queue");
  CHECK(ask("GET", "/api/v2/assets/%00").status == 404);
  CHECK(ask("GET", "/api/v2/assets/%c0%ae%c0%ae/content").body == "/api/v2/assets/{id}/content id=\xc0\xae\xc0\xae");
  CHECK(ask("GET", "/api/v2\\jobs").status == 400);
  for (const char* target :
       {"//api/v2/health", "/api/v2/./health", "/API/v2/health", "/api/v2/health/", "/api/v2/x/../health"})
    CHECK(ask("GET", target).status == 404);
  CHECK(ask("GET", "/api/v2/health#x").status == 400);
  CHECK(ask("GET", "http://evil.test/api/v2/health").status == 200);  // whose authority counts is the guard's business
  CHECK(ask("TRACE", "/api/v2/health").status == 405);
  CHECK(ask("CONNECT", "a:1").status == 501);
  CHECK(ask("OPTIONS", "*").status == 404);
  const response wrong = ask("FOO", "/api/v2/health");
  CHECK(wrong.status == 405);
  CHECK(wrong.header("allow") == "GET, HEAD, OPTIONS");
  const response head = ask("HEAD", "/api/v2/health", true);
  CHECK(head.status == 200);
  CHECK(head.header("content-length") == "14");
}
