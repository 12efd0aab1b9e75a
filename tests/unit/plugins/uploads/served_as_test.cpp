#include "plugins/uploads/served_as.hpp"

#include <catch2/catch.hpp>

using namespace portico::uploads;

TEST_CASE("types that a browser runs are script-capable, whatever their case and parameters") {
  for (const char* type :
       {"text/html", "TEXT/HTML", "text/html; charset=x", " text/html", "image/svg+xml", "application/xhtml+xml",
        "text/xml", "application/xml", "application/rss+xml", "text/javascript", "application/javascript",
        "application/x-javascript", "application/ecmascript", "text/css", "text/xsl", "multipart/x-mixed-replace",
        "message/rfc822"}) {
    INFO(type);
    CHECK(is_script_capable(type));
  }
}

TEST_CASE("types that carry pictures, sound, models or plain text are not script-capable") {
  for (const char* type : {"image/png", "video/mp4", "audio/flac", "text/plain; charset=utf-8", "application/json",
                           "application/octet-stream", "model/gltf-binary", "", "text/plain; x=text/html"}) {
    INFO(type);
    CHECK_FALSE(is_script_capable(type));
  }
}

TEST_CASE("a content type is a type, a subtype and perhaps parameters, on one line") {
  CHECK(is_content_type("image/png"));
  CHECK(is_content_type("text/html; charset=x"));
  CHECK(is_content_type("application/vnd.a+b-c.d"));
  for (const std::string type : {"", "image", "/png", "image/", "image png/x", "image/p ng", "text/html\r\nx: y",
                                 "a/b; c=\n", "a/b\x7f", "a/b/c"}) {
    INFO(type);
    CHECK_FALSE(is_content_type(type));
  }
  CHECK_FALSE(is_content_type("a/" + std::string(254, 'b')));
}

TEST_CASE("an attachment's name is safe in a header and whole beside it") {
  CHECK(attachment("x.html") == "attachment; filename=\"x.html\"");
  CHECK(attachment("a\"b\\c\r\nd.html") ==
        "attachment; filename=\"a_b_c__d.html\"; filename*=UTF-8''a%22b%5Cc%0D%0Ad.html");
  CHECK(attachment("\xc3\xa9%41.svg") == "attachment; filename=\"__41.svg\"; filename*=UTF-8''%C3%A9%2541.svg");
}
