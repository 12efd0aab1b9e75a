#include "core/config/origin.hpp"

#include <catch2/catch.hpp>

using namespace portico::config;

TEST_CASE("origins are written as browsers send them") {
  CHECK(normalize_origin("https://app.example.test").text == "https://app.example.test");
  CHECK(normalize_origin("https://app.example.test/").text == "https://app.example.test");
  CHECK(normalize_origin("HTTPS://APP.Example.Test:443").text == "https://app.example.test");
  CHECK(normalize_origin("http://a.test:80/").text == "http://a.test");
  CHECK(normalize_origin("http://a.test:443").text == "http://a.test:443");
  CHECK(normalize_origin("http://[::1]:3000").text == "http://[::1]:3000");
}

TEST_CASE("what is no origin is refused with its reason") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it is empty"},
      {"*", "wildcards"},
      {"https://*.example.test", "wildcards"},
      {"a.test", "does not begin with http"},
      {"ftp://a.test", "does not begin with http"},
      {"null", "does not begin with http"},
      {"https://a.test/x", "it has a path"},
      {"https://a.test//", "it has a path"},
      {"https://a.test?x", "it has a query"},
      {"https://a.test#x", "it has a fragment"},
      {"https://u:p@a.test", "it has user info"},
      {"https://", "it has no host"},
      {"https://:443", "it has no host"},
      {"https://a.test:", "its port is empty"},
      {"https://a.test:0", "not a number from 1 to 65535"},
      {"https://a.test:65536", "not a number from 1 to 65535"},
      {"https://a.test:8o", "not a number from 1 to 65535"},
      {"https://a.test:-1", "not a number from 1 to 65535"},
      {"https://a test", "its host is not a name"},
      {"https://[::1", "its host is not a name"},
      {"https://[::1]x", "its host is not a name"},
      {"https://\xc3\xa4.test", "its host is not a name"},
  };
  for (const auto& [text, why] : cases) {
    INFO(text);
    CHECK_THAT(normalize_origin(text).error, Catch::Contains(why));
    CHECK(normalize_origin(text).text.empty());
  }
}

TEST_CASE("the url of an upstream keeps its path and loses trailing slashes") {
  CHECK(normalize_upstream_url("http://127.0.0.1:8188").text == "http://127.0.0.1:8188");
  CHECK(normalize_upstream_url("http://h/base//").text == "http://h/base");
  CHECK(normalize_upstream_url("http://u:p@h:1/").text == "http://u:p@h:1");
}

TEST_CASE("user info never shows") {
  CHECK(without_user_info("http://u:p@h:1/x@y") == "http://h:1/x@y");
  CHECK(without_user_info("http://h/x@y") == "http://h/x@y");
  CHECK(without_user_info("http://u:p@w@h") == "http://h");
  for (const char* url :
       {"http://user:s3cret@h:0", "https://user:s3cret@h", "http://user:s3cret@", "ftp://user:s3cret@h"}) {
    const checked c = normalize_upstream_url(url);
    CHECK_FALSE(c.error.empty());
    CHECK_THAT(c.error, !Catch::Contains("s3cret"));
  }
}
