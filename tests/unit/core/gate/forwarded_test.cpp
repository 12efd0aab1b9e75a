// X-Forwarded headers, of proxies that are trusted and of others.
#include <catch2/catch.hpp>

#include "running_gate.hpp"

using namespace portico;

namespace {

gate::settings with_proxies(std::initializer_list<const char*> networks) {
  gate::settings s;
  for (const char* n : networks) s.proxies.push_back(*base::parse_network(n));
  return s;
}

// "base url, client" as the route is told.
std::string told(running_gate& g, const std::string& headers) {
  const response r = ask(g.port(), "GET /api/v2/jobs\r\nHost: 127.0.0.1:1\r\n" + headers);
  return r.status == 200 ? r.header("x-base-url") + ", " + r.header("x-client") : std::to_string(r.status);
}

}  // namespace

TEST_CASE("without trusted proxies X-Forwarded headers mean nothing") {
  for (auto settings : {with_proxies({}), with_proxies({"10.0.0.0/8"})}) {
    running_gate g(settings);
    CHECK(told(g, "X-Forwarded-Proto: https\r\nX-Forwarded-Host: a.test\r\nX-Forwarded-For: 192.0.2.1\r\n") ==
          "http://127.0.0.1:1, 127.0.0.1");
  }
}

TEST_CASE("a trusted proxy's word shapes the links and names the client") {
  running_gate g(with_proxies({"127.0.0.0/8", "10.0.0.0/8"}));
  CHECK(told(g, "") == "http://127.0.0.1:1, 127.0.0.1");
  CHECK(told(g, "X-Forwarded-Proto: HTTPS\r\n") == "https://127.0.0.1:1, 127.0.0.1");
  CHECK(told(g, "X-Forwarded-Proto: https\r\nX-Forwarded-Host: a.test\r\n") == "https://a.test, 127.0.0.1");
  CHECK(told(g, "X-Forwarded-Host: a.test:8443\r\n") == "http://a.test:8443, 127.0.0.1");
  CHECK(told(g, "X-Forwarded-For: 192.0.2.1\r\n") == "http://127.0.0.1:1, 192.0.2.1");
  CHECK(told(g, "X-Forwarded-For: 2001:db8::1\r\n") == "http://127.0.0.1:1, 2001:db8::1");
}

TEST_CASE("the client is the last address that is no trusted proxy; what clients write before it is not believed") {
  running_gate g(with_proxies({"127.0.0.0/8", "10.0.0.0/8"}));
  CHECK(told(g, "X-Forwarded-For: 203.0.113.9, 192.0.2.1\r\n") == "http://127.0.0.1:1, 192.0.2.1");
  CHECK(told(g, "X-Forwarded-For: 203.0.113.9, 192.0.2.1, 10.0.0.1\r\n") == "http://127.0.0.1:1, 192.0.2.1");
  CHECK(told(g, "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 10.0.0.1\r\n") == "http://127.0.0.1:1, 192.0.2.1");
  CHECK(told(g, "X-Forwarded-For: 10.0.0.2, 10.0.0.1\r\n") == "http://127.0.0.1:1, 10.0.0.2");
  CHECK(told(g, "X-Forwarded-Proto: https, http\r\nX-Forwarded-Host: a.test, b.test\r\n") ==
        "http://b.test, 127.0.0.1");
}

TEST_CASE("what a trusted proxy writes wrongly is as if it were not there") {
  running_gate g(with_proxies({"127.0.0.0/8"}));
  for (const char* headers :
       {"X-Forwarded-Proto: gopher\r\n", "X-Forwarded-Host: a.test/path\r\n", "X-Forwarded-Host: u@a.test\r\n",
        "X-Forwarded-Host: a b\r\n", "X-Forwarded-For: unknown\r\n", "X-Forwarded-For: 192.0.2.1, _hidden\r\n",
        "X-Forwarded-For: 192.0.2.1:80\r\n", "X-Forwarded-For: ,\r\n"}) {
    INFO(headers);
    CHECK(told(g, headers) == "http://127.0.0.1:1, 127.0.0.1");
  }
}

TEST_CASE("the guard looks at the true Host, whatever a proxy on this machine says") {
  running_gate g(with_proxies({"127.0.0.0/8"}));
  CHECK(ask(g.port(), "GET /api/v2/jobs\r\nHost: evil.test\r\nX-Forwarded-Host: 127.0.0.1\r\n").status == 403);
}
