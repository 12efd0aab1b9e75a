#include "plugins/uploads/form.hpp"

#include <catch2/catch.hpp>
#include <portico/response.hpp>

using portico::uploads::upload_form;

namespace {

std::string field(std::string_view name, std::string_view content) {
  return "--b\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"\r\n\r\n" + std::string(content) +
         "\r\n";
}
const std::string end = "--b--\r\n";

struct outcome {
  std::string file, refusal;
  int status = 0;
};

outcome take(upload_form& form, std::string_view body, std::size_t piece = std::string_view::npos) {
  outcome out;
  try {
    while (!body.empty()) {
      const std::string fed(body.substr(0, std::min(piece, body.size())));
      body.remove_prefix(fed.size());
      form.feed(fed);
      for (auto bytes = form.next(); !bytes.empty(); bytes = form.next()) out.file += bytes;
    }
    form.finish();
  } catch (const portico::http_error& e) {
    out.status = e.status();
    out.refusal = e.what();
  }
  return out;
}

outcome take(std::string_view body, std::uint64_t largest = 1000) {
  upload_form form("multipart/form-data; boundary=b", largest);
  return take(form, body);
}

}  // namespace

TEST_CASE("the fields of an upload come in any order and any pieces") {
  const std::string texts = field("file_path", " a.png\n") + field("content_type", "image/png") + field("tags", "z") +
                            field("tags", "a") + field("expected_hash", "blake3:00") + field("tags", "z") +
                            field("expires_in", "60") + field("junk", "whatever");
  const std::string file =
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\nContent-Type: "
      "a/b\r\n\r\n\r\nby\r\n--tes\r\n";
  for (const std::string& body : {texts + file + end, file + texts + end}) {
    for (const std::size_t piece : {1u, 5u, 100000u}) {
      upload_form form("multipart/form-data; boundary=b", 1000);
      const outcome out = take(form, body, piece);
      CHECK(out.refusal == "");
      CHECK(out.file == "\r\nby\r\n--tes");
      CHECK(form.file_path() == " a.png\n");
      CHECK(form.content_type() == "image/png");
      CHECK(form.expected_hash() == "blake3:00");
      CHECK(form.expires_in() == "60");
      CHECK(form.tags() == std::vector<std::string>{"z", "a", "z"});
      CHECK(form.file_content_type() == "a/b");
    }
  }
}

TEST_CASE("an empty file is a file") {
  upload_form form("multipart/form-data; boundary=b", 1000);
  const outcome out = take(form, field("file", "") + end);
  CHECK(out.refusal == "");
  CHECK(out.file.empty());
  CHECK_FALSE(form.file_path());
}

TEST_CASE("a field given twice is refused by its name") {
  for (const std::string name : {"file", "file_path", "content_type", "expected_hash", "expires_in"}) {
    const outcome out = take(field(name, "a") + field(name, "b") + field("file", "") + end);
    CHECK(out.status == 422);
    CHECK(out.refusal == "the form has two fields named " + name);
  }
}

TEST_CASE("a form without a file, or without its end, is refused") {
  CHECK(take(field("file_path", "a") + end).refusal == "the form has no field named file");
  CHECK(take(end).refusal == "the form has no field named file");
  CHECK(take(field("file", "a")).refusal.find("before its closing boundary") != std::string::npos);
  CHECK(take("").refusal.find("before its closing boundary") != std::string::npos);
  CHECK(take("garbage").status == 422);
}

TEST_CASE("a file over the limit is refused with 413 as soon as it is over") {
  CHECK(take(field("file", std::string(1000, 'x')) + end).status == 0);
  const outcome out = take(field("file", std::string(1001, 'x')) + end);
  CHECK(out.status == 413);
  CHECK(out.refusal.find("1000 bytes") != std::string::npos);
}

TEST_CASE("a field of more than 64 KiB is refused, also one that nobody reads") {
  for (const char* name : {"file_path", "tags", "junk"}) {
    CHECK(take(field(name, std::string(65536, 'x')) + field("file", "") + end).refusal == "");
    CHECK(take(field(name, std::string(65537, 'x')) + field("file", "") + end).refusal ==
          "a field of the form is longer than 64 KiB");
  }
}

TEST_CASE("what is malformed in a form is said") {
  CHECK(take("--bx\r\n").refusal.find("the form is malformed: a boundary") == 0);
  CHECK_THROWS_WITH(upload_form("multipart/form-data", 1), Catch::Contains("names no boundary"));
  CHECK_THROWS_WITH(upload_form("", 1), Catch::Contains("must be a form"));
}
