#include "plugins/uploads/multipart.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using portico::uploads::boundary_of;
using portico::uploads::multipart;

namespace {

// The whole reading as one text: "name|type|content;" for each part, then "." when the form was closed, or the error.
std::string read(std::string_view body, std::size_t piece = std::string_view::npos, std::string_view boundary = "b") {
  multipart parser(boundary);
  std::string out;
  bool open = false;
  for (;;) {
    const std::string fed(
        body.substr(0, std::min(piece, body.size())));  // a copy, so that a sanitizer sees views into it
    body.remove_prefix(fed.size());
    parser.feed(fed);
    for (multipart::step s; (s = parser.next()) != multipart::step::more;) {
      if (s == multipart::step::failed) return parser.error();
      if (s == multipart::step::part) {
        if (open) out += ';';
        open = true;
        out += parser.name() + "|" + parser.content_type() + "|";
      } else {
        out += parser.data();
      }
    }
    if (body.empty()) break;
  }
  if (open) out += ';';
  return out + (parser.done() ? "." : "");
}

std::string part(std::string_view content, std::string_view disposition = "form-data; name=\"file\"") {
  return "Content-Disposition: " + std::string(disposition) + "\r\n\r\n" + std::string(content);
}

std::string refusal(std::string_view content_type) {
  const char* why = nullptr;
  return boundary_of(content_type, &why) ? "" : why;
}

}  // namespace

TEST_CASE("a form is read the same however it is cut into pieces") {
  const std::string body =
      "--b\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Type: a/b\r\n\r\none\r\n--b\r\n" +
      part("\r\r\n\r\n-\r\n--\r\n--a\r\n\r\n--", "form-data; filename=\"f\"; name=file") + "\r\n--b--\r\nafter";
  const std::string whole = "x|a/b|one;file||\r\r\n\r\n-\r\n--\r\n--a\r\n\r\n--;.";
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    INFO(piece);
    CHECK(read(body, piece) == whole);
  }
}

TEST_CASE("an empty part has no content, with and without the line end of its own") {
  CHECK(read("--b\r\n" + part("") + "\r\n--b--") == "file||;.");
  CHECK(read("--b\r\n" + part("") + "--b--") == "file||;.");
}

TEST_CASE("content that begins like a boundary line is kept byte for byte") {
  CHECK(read("--b\r\n" + part("-\r\n--b--").substr(0)) == "file||-;.");
  CHECK(read("--b\r\n" + part("--a\r\n--b--")) == "file||--a;.");
  CHECK(read("--b\r\n" + part("\r\n--a\r\n--b--")) == "file||\r\n--a;.");
}

TEST_CASE("a preamble and an epilogue are skipped") {
  CHECK(read("hello\r\n--b\r\n" + part("x") + "\r\n--b--\r\n--b\r\n" + part("y") + "\r\n--b--") == "file||x;.");
  CHECK(read("\r\n--b\r\n" + part("x") + "\r\n--b--") == "file||x;.");
}

TEST_CASE("a form whose end is missing is not done") {
  const std::string body = "--b\r\n" + part("x") + "\r\n--b--";
  CHECK(read(body) == "file||x;.");
  for (std::size_t n = 0; n < body.size(); ++n) {
    INFO(n);
    CHECK(read(body.substr(0, n)).find('.') == std::string::npos);
  }
}

TEST_CASE("a form of no parts is done at once, and an empty body never is") {
  CHECK(read("--b--") == ".");
  CHECK(read("") == "");
}

TEST_CASE("blanks may follow a boundary, anything else may not") {
  CHECK(read("--b \t\r\n" + part("x") + "\r\n--b--") == "file||x;.");
  CHECK(read("--bc\r\n" + part("x") + "\r\n--b--").find("followed by something else") != std::string::npos);
  CHECK(read("--b\n" + part("x") + "\r\n--b--").find("followed by something else") != std::string::npos);
  CHECK(read("--b-\r\n").find("followed by something else") != std::string::npos);
}

TEST_CASE("a boundary of dashes and one of 70 characters are found") {
  const std::string dashes = "----comfy0123456789abcdef", longest(70, 'x');
  CHECK(read("--" + dashes + "\r\n" + part("--") + "\r\n--" + dashes + "--", 3, dashes) == "file||--;.");
  CHECK(read("--" + longest + "\r\n" + part("y") + "\r\n--" + longest + "--", 7, longest) == "file||y;.");
}

TEST_CASE("a header line that never ends is refused at 16 KiB") {
  const std::string head = "--b\r\nContent-Disposition: form-data; name=\"file\"";
  for (const std::size_t piece : {1u, 1000u, 1u << 21}) {
    CHECK(read(head + std::string(1 << 20, 'x'), piece) == "the header lines of a part are longer than 16 KiB");
  }
  const std::string fits(
      multipart::max_headers - std::string("Content-Disposition: form-data; name=\"file\"\r\na: ").size(), 'x');
  CHECK(read(head + "\r\na: " + fits + "\r\n\r\n\r\n--b--") == "file||;.");
  CHECK(read(head + "\r\na: " + fits + "x\r\n\r\n\r\n--b--") == "the header lines of a part are longer than 16 KiB");
}

TEST_CASE("5,000 header lines in one part are refused") {
  std::string body = "--b\r\n";
  for (int i = 0; i < 5000; ++i) body += "a: b\r\n";
  CHECK(read(body) == "the header lines of a part are longer than 16 KiB");
}

TEST_CASE("the 65th part is refused") {
  std::string body;
  for (int i = 0; i < 64; ++i) body += "--b\r\n" + part("x", "form-data; name=a") + "\r\n";
  CHECK(std::string_view(read(body + "--b--")).ends_with(";."));
  CHECK(read(body + "--b\r\n" + part("x") + "\r\n--b--") == "the form has more than 64 parts");
}

TEST_CASE("more than 16 KiB before the first boundary are refused") {
  CHECK(read(std::string(1 << 20, 'x')) == "more than 16 KiB come before the first boundary");
  CHECK(read(std::string(1 << 20, '\r')) == "more than 16 KiB come before the first boundary");
  CHECK(read(std::string(16 * 1024 - 2, 'x') + "\r\n--b--") == ".");
}

TEST_CASE("the name of a part is read, and nothing behind it") {
  const auto name = [](std::string_view disposition) { return read("--b\r\n" + part("", disposition) + "\r\n--b--"); };
  CHECK(name("form-data; name=\"file\"; filename=\"a\"b\".png\"") == "file||;.");
  CHECK(name("form-data; name=\"file\"; filename*0=\"seg0-\"; filename*10=\"seg10\"; filename*2=\"x\"") == "file||;.");
  CHECK(name("form-data; name=\"file\"; filename*0=\"it's\"") == "file||;.");
  CHECK(name("form-data; name=\"file\"; filename*=utf-8''%ff%fe") == "file||;.");
  CHECK(name("form-data; name=\"file\"; filename=\"\xff\xfe; name=\"x\"") == "file||;.");
  CHECK(name("form-data; filename=\"a;b; name=x\"; name=\"file\"") == "file||;.");
  CHECK(name("FORM-DATA; NAME=file") == "file||;.");
  CHECK(name("form-data; name=\"a\\\"b\"") == "a\"b||;.");
  CHECK(name("form-data; name=\"\"") == "||;.");
}

TEST_CASE("a part that does not say which field it is, is refused") {
  CHECK(read("--b\r\n\r\nx\r\n--b--") == "a part has no Content-Disposition header");
  CHECK(read("--b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--") == "a part has no Content-Disposition header");
  CHECK(read("--b\r\n" + part("x", "attachment; name=file")) == "the Content-Disposition of a part is not form-data");
  CHECK(read("--b\r\n" + part("x", "form-data; filename=file")) == "the Content-Disposition of a part has no name");
  CHECK(read("--b\r\n" + part("x", "form-data; name=\"file")) == "the Content-Disposition of a part has no name");
  CHECK(read("--b\r\nno colon\r\n\r\n") == "a header line of a part has no name");
  CHECK(read("--b\r\n: x\r\n\r\n") == "a header line of a part has no name");
  CHECK(read("--b\r\na: b\nc: d\r\n\r\n") == "a header line of a part holds a control character");
}

TEST_CASE("a header given twice in one part, or a transfer coding, is refused") {
  CHECK(read("--b\r\nContent-Disposition: form-data; name=a\r\n" + part("x")) ==
        "a part has two Content-Disposition headers");
  CHECK(read("--b\r\nContent-Type: a/b\r\ncontent-type: c/d\r\n" + part("x")) == "a part has two Content-Type headers");
  CHECK(read("--b\r\nContent-Transfer-Encoding: base64\r\n" + part("x")).find("Content-Transfer-Encoding") !=
        std::string::npos);
  CHECK(read("--b\r\nContent-Transfer-Encoding: 8BIT\r\n" + part("x") + "\r\n--b--") == "file||x;.");
}

TEST_CASE("the boundary is read from the content type, quoted or not") {
  const char* why = nullptr;
  CHECK(boundary_of("multipart/form-data; boundary=abc", &why) == "abc");
  CHECK(boundary_of("Multipart/Form-Data;BOUNDARY=\"a b:c\"; x=y", &why) == "a b:c");
  CHECK(boundary_of("multipart/form-data; charset=utf-8; boundary=----formdata-undici-012", &why) ==
        "----formdata-undici-012");
  CHECK(boundary_of("multipart/form-data; boundary=" + std::string(70, 'a'), &why) == std::string(70, 'a'));
}

TEST_CASE("a content type without one good boundary is refused") {
  CHECK(refusal("multipart/form-data").find("no boundary") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=").find("1 to 70") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=\"\"").find("1 to 70") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=" + std::string(71, 'a')).find("1 to 70") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=a; boundary=b").find("two boundaries") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=\"a").find("cannot be read") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=a{b").find("not allowed") != std::string::npos);
  CHECK(refusal("multipart/form-data; boundary=\"a \"").find("not allowed") != std::string::npos);
  CHECK(refusal("multipart/mixed; boundary=b").find("multipart/form-data") != std::string::npos);
  CHECK(refusal("application/json").find("multipart/form-data") != std::string::npos);
  CHECK(refusal("").find("multipart/form-data") != std::string::npos);
}
