#include <catch2/catch.hpp>

#include "plugins/comfyui_standin/multipart.hpp"

using namespace standin;

TEST_CASE("the boundary is read plain and quoted, and only of form data") {
  CHECK(boundary_of("multipart/form-data; boundary=abc") == "abc");
  CHECK(boundary_of("Multipart/Form-Data; charset=utf-8; BOUNDARY=\"a b;c\"") == "a b;c");
  CHECK_FALSE(boundary_of("multipart/mixed; boundary=abc"));
  CHECK_FALSE(boundary_of("multipart/form-data"));
  CHECK_FALSE(boundary_of("multipart/form-data; boundary="));
  CHECK_FALSE(boundary_of(""));
}

TEST_CASE("parts come with name, file name, type and exact bytes, also bytes that look like a boundary") {
  std::string body =
      "--bound\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a b.png\"\r\nContent-Type: "
      "image/png\r\n\r\n";
  const std::string bytes("\r\n--boun\r\n\0--bound", 18);
  body += bytes + "\r\n--bound\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\ninput\r\n--bound--\r\n";
  const auto parts = parse_form(body, "bound");
  REQUIRE(parts);
  REQUIRE(parts->size() == 2);
  CHECK(parts->at(0).name == "image");
  CHECK(parts->at(0).filename == "a b.png");
  CHECK(parts->at(0).content_type == "image/png");
  CHECK(parts->at(0).bytes == bytes);
  CHECK(find_part(*parts, "type")->bytes == "input");
  CHECK(find_part(*parts, "none") == nullptr);
}

TEST_CASE("an empty part and a preamble are fine") {
  const auto parts = parse_form("hello\r\n--b\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n--b--", "b");
  REQUIRE(parts);
  REQUIRE(parts->size() == 1);
  CHECK(parts->at(0).name == "x");
  CHECK(parts->at(0).bytes.empty());
}

TEST_CASE("file names are read with quotes, escapes and bytes beyond ASCII") {
  const auto name_in = [](const std::string& parameter) {
    const auto parts =
        parse_form("--b\r\nContent-Disposition: form-data; name=\"i\"; " + parameter + "\r\n\r\nx\r\n--b--", "b");
    REQUIRE(parts);
    return parts->at(0).filename;
  };
  CHECK(name_in("filename=\"a;b.png\"") == "a;b.png");
  CHECK(name_in("filename=\"a\\\"b.png\"") == "a\"b.png");
  CHECK(name_in("filename=\"a%22b.png\"") == "a\"b.png");
  CHECK(name_in("filename=\"caf\xC3\xA9.png\"") == "caf\xC3\xA9.png");
  CHECK(name_in("filename=plain.png") == "plain.png");
}

TEST_CASE("a body that is cut or has a line that is no header is refused") {
  const std::string good = "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nhello\r\n--b--\r\n";
  REQUIRE(parse_form(good, "b"));
  for (std::size_t n = 0; n < good.size() - 4; ++n) CHECK_FALSE(parse_form(good.substr(0, n), "b"));
  CHECK_FALSE(parse_form("--b\r\nno header\r\n\r\nx\r\n--b--", "b"));
  CHECK_FALSE(parse_form(good, "c"));
}
