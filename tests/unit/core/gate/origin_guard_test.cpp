#include "core/gate/origin_guard.hpp"

#include <catch2/catch.hpp>

using namespace portico;

namespace {

// A request of that Host; origin and site are left out when nullptr.
bool passes(const gate::origin_guard& guard, std::string_view host, const char* origin, const char* site = nullptr,
            bool listed = false) {
  std::vector<http::field> headers;
  if (origin != nullptr) headers.push_back({"origin", origin});
  if (site != nullptr) headers.push_back({"sec-fetch-site", site});
  http::request_head head;
  head.method = "GET";
  head.path = "/";
  head.authority = host;
  head.headers = headers;
  return guard.refuses(head, listed).empty();
}

const gate::origin_guard loopback(true, {"proxy.example.test", "other.test:8443"});
const gate::origin_guard network(false, {});

}  // namespace

TEST_CASE("a request without Origin passes") {
  CHECK(passes(loopback, "127.0.0.1:8189", nullptr));
  CHECK(passes(loopback, "127.0.0.1:8189", nullptr, "same-origin"));
  CHECK(passes(loopback, "127.0.0.1:8189", nullptr, "none"));
  CHECK(passes(network, "server.example.test", nullptr));
}

TEST_CASE("an Origin of the same authority passes, whatever its scheme and case") {
  CHECK(passes(loopback, "127.0.0.1:8189", "http://127.0.0.1:8189"));
  CHECK(passes(loopback, "localhost:8189", "https://LOCALHOST:8189"));
  CHECK(passes(loopback, "[::1]:8189", "http://[::1]:8189"));
  CHECK(passes(loopback, "proxy.example.test", "https://proxy.example.test"));
}

TEST_CASE("a port that one side leaves out is any port") {
  CHECK(passes(loopback, "localhost:8189", "http://localhost"));
  CHECK(passes(loopback, "localhost", "http://localhost:80"));
  CHECK(passes(loopback, "[::1]", "http://[::1]:80"));
}

TEST_CASE("an Origin of another authority is refused") {
  CHECK_FALSE(passes(loopback, "127.0.0.1:8189", "https://evil.test"));
  CHECK_FALSE(passes(loopback, "127.0.0.1:8189", "http://127.0.0.1:3000"));
  CHECK_FALSE(passes(loopback, "127.0.0.1:8189", "http://localhost:8189"));
  CHECK_FALSE(passes(loopback, "127.0.0.1:8189", "http://127.0.0.1:8189.evil.test"));
  CHECK_FALSE(passes(network, "127.0.0.1:8189", "https://evil.test"));
}

TEST_CASE("a cross-site request is refused even when the origins are equal, in any case of the word") {
  CHECK_FALSE(passes(loopback, "127.0.0.1:8189", "http://127.0.0.1:8189", "cross-site"));
  CHECK_FALSE(passes(loopback, "127.0.0.1:8189", nullptr, "Cross-Site"));
  CHECK_FALSE(passes(network, "server.example.test", nullptr, "cross-site"));
}

TEST_CASE("a listed origin passes, also across sites") {
  CHECK(passes(loopback, "127.0.0.1:8189", "https://app.example.test", "cross-site", true));
}

TEST_CASE("origins that name nobody are refused") {
  for (const char* origin : {"null", "file://", "", "nonsense", "http:/127.0.0.1"}) {
    INFO(origin);
    CHECK_FALSE(passes(loopback, "127.0.0.1:8189", origin));
    CHECK_FALSE(passes(network, "server.example.test", origin));
  }
}

TEST_CASE("malformed ports and addresses in Origin are refused without a fault") {
  for (const char* origin : {"http://127.0.0.1:port", "http://[::1", "http://[::1]:", "http://]:1", "http://:"}) {
    INFO(origin);
    CHECK_FALSE(passes(loopback, "127.0.0.1:8189", origin));
  }
}

TEST_CASE("two Origin headers are refused") {
  const http::field headers[] = {{"origin", "http://127.0.0.1:8189"}, {"origin", "https://evil.test"}};
  http::request_head head;
  head.authority = "127.0.0.1:8189";
  head.headers = headers;
  CHECK_FALSE(loopback.refuses(head, false).empty());
}

TEST_CASE("on a loopback address only loopback names and listed hosts are answered") {
  for (const char* host : {"127.0.0.1:1", "127.9.9.9", "[::1]:8189", "localhost", "LOCALHOST.", "a.localhost:80",
                           "proxy.example.test", "PROXY.example.test:99", "other.test:8443", ""}) {
    INFO(host);
    CHECK(passes(loopback, host, nullptr));
  }
  for (const char* host : {"evil.test", "evil.test:8189", "other.test", "other.test:80", "192.0.2.1:8189",
                           "localhost.evil.test", "127.0.0.1.evil.test", "[::2]:8189", "x.proxy.example.test"}) {
    INFO(host);
    CHECK_FALSE(passes(loopback, host, nullptr));
    CHECK_FALSE(passes(loopback, host, ("http://" + std::string(host)).c_str()));  // DNS rebinding
  }
}

TEST_CASE("a listed origin does not open the server to foreign host names") {
  CHECK_FALSE(passes(loopback, "evil.test", "https://app.example.test", nullptr, true));
}

TEST_CASE("on a network address any host name is answered, and its own pages pass") {
  CHECK(passes(network, "server.example.test:8189", "http://server.example.test:8189"));
  CHECK(passes(network, "192.0.2.1:8189", nullptr));
}
