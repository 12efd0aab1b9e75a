#include "plugins/health/body.hpp"

#include <catch2/catch.hpp>

using portico::health::health_body;
using portico::health::without_user_info;

TEST_CASE("the health body names the upstream without a trailing slash") {
  CHECK(health_body("http://127.0.0.1:8188") == R"({"status":"healthy","upstream":"http://127.0.0.1:8188"})");
  CHECK(health_body("http://127.0.0.1:8188/") == R"({"status":"healthy","upstream":"http://127.0.0.1:8188"})");
  CHECK(health_body("http://h/comfy//") == R"({"status":"healthy","upstream":"http://h/comfy"})");
}

TEST_CASE("the health body never shows the upstream's user info") {
  CHECK(health_body("http://me:secret@h:1/p") == R"({"status":"healthy","upstream":"http://h:1/p"})");
  CHECK(without_user_info("http://me:p@ss@h/p") == "http://h/p");
  CHECK(without_user_info("http://me@[::1]:8188") == "http://[::1]:8188");
  CHECK(without_user_info("http://me:p@h?q=a@b") == "http://h?q=a@b");
}

TEST_CASE("an at sign outside the authority is not user info") {
  CHECK(without_user_info("http://h/a@b") == "http://h/a@b");
  CHECK(without_user_info("http://h?x=a@b") == "http://h?x=a@b");
  CHECK(without_user_info("http://h#a@b") == "http://h#a@b");
}

TEST_CASE("a URL that cannot be taken apart is shown as it is, escaped for JSON") {
  CHECK(without_user_info("not a url") == "not a url");
  CHECK(without_user_info("") == "");
  CHECK(health_body("a\"b\n") == "{\"status\":\"healthy\",\"upstream\":\"a\\\"b\\n\"}");
}
