#include <array>
#include <catch2/catch.hpp>
#include <ctime>
#include <string>

#include "core/http/buffer.hpp"
#include "core/http/syntax.hpp"
#include "core/http/writer.hpp"

using namespace portico;
using namespace std::chrono_literals;

TEST_CASE("writer: the date is the system's, in the form of RFC 9110, and kept for its second") {
  http::date_line line;
  const auto now = std::chrono::steady_clock::now();
  const std::time_t before = std::time(nullptr);
  const std::string made(line.at(now));
  const std::time_t after = std::time(nullptr);
  bool matches = false;
  for (std::time_t t = before; t <= after; ++t) {
    std::array<char, 64> text;
    std::tm parts{};
    ::gmtime_r(&t, &parts);
    std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    matches = matches || made == text.data();
  }
  INFO(made);
  CHECK(matches);
  CHECK(line.at(now - 1h) == made);
  CHECK(line.at(now + 1s).size() == made.size());
}

TEST_CASE("writer: a head is its lines in order") {
  http::buffer_pool pool;
  http::buffer out(pool);
  const std::array<http::field, 2> fields{{{"A", "b"}, {"Empty", ""}}};
  http::response_head head;
  head.status = 206;
  head.date = "Date: d\r\n";
  head.lines = "X: y\r\n";
  head.headers = fields;
  head.content_length = 9223372036854775807;
  head.connection = "close";
  append_head(out, head);
  CHECK(out.view() ==
        "HTTP/1.1 206 Partial Content\r\nDate: d\r\nX: y\r\nA: b\r\nEmpty: \r\nContent-Length: 9223372036854775807\r\n"
        "Connection: close\r\n\r\n");
  out.clear();
  head = {};
  head.status = 299;
  head.chunked = true;
  append_head(out, head);
  CHECK(out.view() == "HTTP/1.1 299 \r\nTransfer-Encoding: chunked\r\n\r\n");
  out.clear();
  http::append_request_head(out, "GET", "/a?b", fields);
  CHECK(out.view() == "GET /a?b HTTP/1.1\r\nA: b\r\nEmpty: \r\n\r\n");
}

TEST_CASE("writer: chunk sizes are hexadecimal") {
  CHECK(http::chunk_prefix(1).view() == "1\r\n");
  CHECK(http::chunk_prefix(255).view() == "ff\r\n");
  CHECK(http::chunk_prefix(65536).view() == "10000\r\n");
  CHECK(http::chunk_prefix(SIZE_MAX).view() == "ffffffffffffffff\r\n");
}

TEST_CASE("writer: an envelope is JSON whatever the message holds") {
  CHECK(http::error_envelope("a", "b") == R"({"error":{"code":"a","message":"b","details":null}})");
  CHECK(http::error_envelope("a", "\"\\\n\x01\xc3\xa9") ==
        "{\"error\":{\"code\":\"a\",\"message\":\"\\\"\\\\\\u000a\\u0001\xc3\xa9\",\"details\":null}}");
  CHECK(http::error_envelope("a", "x\xff") == R"({"error":{"code":"a","message":"x\\xff","details":null}})");
}

TEST_CASE("buffer: bytes stay in order however it is filled and emptied") {
  http::buffer_pool pool;
  http::buffer b(pool);
  std::string in, out;
  unsigned next = 1;
  for (int round = 0; round < 2000; ++round) {
    next = next * 1103515245 + 12345;
    const std::string piece((next >> 16) % 3000, static_cast<char>('a' + round % 26));
    in += piece;
    b.append(piece);
    const std::size_t take = std::min<std::size_t>((next >> 8) % 4000, b.size());
    out += b.view().substr(0, take);
    b.consume(take);
  }
  out += b.view();
  CHECK(in == out);
  b.release();
  CHECK(b.empty());
  CHECK(b.capacity() == 0);
}

TEST_CASE("buffer: a block that was given back is the next one taken") {
  http::buffer_pool pool;
  char* const first = pool.take(http::buffer_pool::block);
  pool.give(first, http::buffer_pool::block);
  CHECK(pool.take(http::buffer_pool::block) == first);
  pool.give(first, http::buffer_pool::block);
}

TEST_CASE("syntax: a control character is found wherever it stands in a value") {
  for (std::size_t size = 0; size < 40; ++size) {
    std::string value(size, 'v');
    CHECK(http::syntax::value_end(value.data(), 0, size) == size);
    for (std::size_t at = 0; at < size; ++at)
      for (const char bad : {'\0', '\x01', '\x1f', '\n', '\r', '\x7f'}) {
        std::string s = value;
        s[at] = bad;
        CHECK(http::syntax::value_end(s.data(), 0, size) == at);
        s[at] = '\t';
        CHECK(http::syntax::value_end(s.data(), 0, size) == size);
        s[at] = '\x80';
        CHECK(http::syntax::value_end(s.data(), 0, size) == size);
      }
  }
}
