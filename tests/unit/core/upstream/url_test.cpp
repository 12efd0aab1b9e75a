#include <catch2/catch.hpp>
#include <string>

#include "core/upstream/url.hpp"

using namespace portico::upstream;

namespace {

std::string fault(std::string_view text, std::string_view scheme = "http") {
  url u;
  return std::string(parse_url(text, scheme, &u));
}

url good(std::string_view text, std::string_view scheme = "http") {
  url u;
  INFO(text);
  REQUIRE(parse_url(text, scheme, &u) == "");
  return u;
}

}  // namespace

TEST_CASE("a URL comes apart into what a request needs") {
  const url u = good("http://u:p%40ss@Host.test:8188/a/b%20c?x=1&y=/z?");
  CHECK(u.authority == "Host.test:8188");
  CHECK(u.host == "Host.test");
  CHECK(u.port == 8188);
  CHECK(u.path == "/a/b%20c");
  CHECK(u.query == "?x=1&y=/z?");
  CHECK(u.target() == "/a/b%20c?x=1&y=/z?");
  CHECK(u.authorization() == "Basic dTpwQHNz");
}

TEST_CASE("what a URL leaves out has its usual value") {
  CHECK(good("http://h").target() == "/");
  CHECK(good("http://h").port == 80);
  CHECK(good("http://h").authorization().empty());
  CHECK(good("http://h?q").target() == "/?q");
  CHECK(good("HTTP://h/").host == "h");
  CHECK(good("ws://h/ws", "ws").path == "/ws");
  CHECK(good("http://user@h/").authorization() == "Basic dXNlcjo=");
}

TEST_CASE("an IPv6 address keeps its brackets in Host and loses them for the resolver") {
  const url u = good("http://[::1]:8188/x");
  CHECK(u.authority == "[::1]:8188");
  CHECK(u.host == "::1");
  CHECK(u.port == 8188);
  CHECK(good("http://[fe80::1]").port == 80);
}

TEST_CASE("malformed URLs are refused") {
  for (const char* text : {"",
                           "h",
                           "http:",
                           "http:/h",
                           "http://",
                           "http:///x",
                           "http://:80",
                           "http://h:",
                           "http://h:0",
                           "http://h:65536",
                           "http://h:8x",
                           "http://[::1",
                           "http://::1/",
                           "http://h/ b",
                           "http://h/\r\nX: y",
                           "http://h/#f",
                           "http://h/\xc3\xbc",
                           "http://a b/",
                           "http://u:p q@h/",
                           "ftp://h/",
                           "http://h\\x/"}) {
    INFO(text);
    CHECK(fault(text) != "");
  }
  CHECK(fault("http://h/", "ws") != "");
  CHECK(fault("ws://h/") != "");
}

TEST_CASE("TLS is refused with what to do instead") {
  for (const char* text : {"https://h/", "HTTPS://h", "wss://h/"})
    CHECK(fault(text).find("no TLS") != std::string::npos);
  CHECK(fault("wss://h/", "ws").find("in front of it") != std::string::npos);
}

TEST_CASE("below a base means at a border of the path") {
  CHECK(is_below("http://h:1/api/x", "http://h:1/api"));
  CHECK(is_below("http://h:1/api", "http://h:1/api"));
  CHECK(is_below("http://h:1?q", "http://h:1"));
  CHECK_FALSE(is_below("http://h:18/api", "http://h:1"));
  CHECK_FALSE(is_below("http://h:1/apix", "http://h:1/api"));
  CHECK_FALSE(is_below("http://h:1", ""));
}
