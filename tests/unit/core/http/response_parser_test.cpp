#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/http/parser.hpp"

using namespace portico;
using http::parsed;
using namespace std::string_literals;

namespace {

const char* name(http::framing f) {
  switch (f) {
    case http::framing::none:
      return "none";
    case http::framing::length:
      return "length";
    case http::framing::chunked:
      return "chunked";
    default:
      return "close";
  }
}

std::string describe(const http::response_parser& p, parsed result) {
  if (result == parsed::more) return "more";
  if (result == parsed::refused) return "refused";
  std::string s = std::to_string(p.status());
  s.append(" '").append(p.reason()).append("' 1.") += std::to_string(p.minor_version());
  s.append(" ").append(name(p.body())).append(" ") += std::to_string(p.content_length());
  s += p.keep_alive() ? " keep" : " close";
  if (p.saw_continue()) s += " continued";
  for (const http::field& f : p.headers()) s.append("|").append(f.name).append("=").append(f.value);
  return s + "+" + std::to_string(p.size());
}

// In two pieces, at two addresses.
std::string parse(const std::string& text, std::string_view method = "GET", std::size_t cut = 0) {
  const http::head_limits limits;
  http::response_parser p(limits);
  p.expect(method);
  std::string first = text.substr(0, cut), all;
  parsed result = p.parse(first.data(), first.size());
  if (result != parsed::more) return describe(p, result);
  all = first + text.substr(cut);
  result = p.parse(all.data(), all.size());
  return describe(p, result);
}

struct shape {
  const char* method;
  std::string text, right;
};

const std::vector<shape>& shapes() {
  static const std::vector<shape> all = {
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 'OK' 1.1 length 5 keep|content-length=5+38"},
      {"GET", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "200 '' 1.1 none 0 keep|content-length=0+36"},
      {"GET", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", "404 '' 1.1 none 0 keep|content-length=0+35"},
      {"GET", "HTTP/1.1 200 All is well\r\nTransfer-Encoding: chunked\r\n\r\n",
       "200 'All is well' 1.1 chunked -1 keep|transfer-encoding=chunked+56"},
      {"GET", "HTTP/1.1 200 OK\r\n\r\n", "200 'OK' 1.1 close -1 close+19"},
      {"GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "200 'OK' 1.0 length 5 close|content-length=5+38"},
      {"GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\n",
       "200 'OK' 1.0 length 5 keep|content-length=5|connection=Keep-Alive+62"},
      {"GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\n",
       "200 'OK' 1.1 length 5 close|connection=close|content-length=5+57"},
      {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 'OK' 1.1 none 5 keep|content-length=5+38"},
      {"HEAD", "HTTP/1.1 200 OK\r\n\r\n", "200 'OK' 1.1 none -1 keep+19"},
      {"GET", "HTTP/1.1 204 No Content\r\n\r\n", "204 'No Content' 1.1 none -1 keep+27"},
      {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
       "304 'Not Modified' 1.1 none 7 keep|content-length=7+48"},
      {"POST",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
       "2\r\n\r\nok",
       "200 'OK' 1.1 length 2 keep continued|content-length=2+94"},
      {"GET", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81",
       "101 'Switching Protocols' 1.1 none -1 keep|upgrade=websocket+56"},
      {"GET", "HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\n", "refused"},
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "refused"},
      {"GET", "HTTP/2.0 200 OK\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 2x0 OK\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 099 OK\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1 2000 OK\r\n\r\n", "refused"},
      {"GET", "HTTP/1.1  200 OK\r\n\r\n", "refused"},
      {"GET", "ICY 200 OK\r\n\r\n", "refused"},
      {"GET", "<html>hello</html>", "refused"},
  };
  return all;
}

// The body from pieces of at most `step` bytes, taken `max` bytes at a time; or "refused", or "more".
std::string decode(http::framing f, std::int64_t length, const std::string& wire, std::size_t step, std::size_t max,
                   std::string* rest = nullptr) {
  const http::head_limits limits;
  http::body_decoder d(limits);
  d.start(f, length);
  std::string body, copy = wire;
  std::size_t at = 0;
  while (at < copy.size() && !d.complete() && !d.refused()) {
    std::span<char> input(copy.data() + at, std::min(step, copy.size() - at));
    const std::size_t offered = input.size();
    while (!input.empty() && !d.complete() && !d.refused()) {
      const std::string_view piece = d.next(input, max);
      REQUIRE(piece.size() <= max);
      body += piece;
    }
    at += offered - input.size();
  }
  if (rest) *rest = copy.substr(at);
  if (d.refused()) return "refused " + std::to_string(d.why().status);
  return d.complete() || (at == copy.size() && d.end_of_input()) ? body : "more";
}

}  // namespace

TEST_CASE("response: heads are understood, or refused, wherever they are cut") {
  for (const shape& s : shapes())
    for (std::size_t cut = 0; cut <= s.text.size(); ++cut) {
      INFO(s.text << " cut at " << cut);
      CHECK(parse(s.text, s.method, cut) == s.right);
    }
}

TEST_CASE("response: interim answers without end are refused") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(parse(text) == "refused");
}

TEST_CASE("response: 100 is seen before the final answer") {
  const http::head_limits limits;
  http::response_parser p(limits);
  std::string text = "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(p.parse(text.data(), text.size()) == parsed::more);
  CHECK(p.saw_continue());
}

TEST_CASE("body: each framing gives the same bytes however it is cut") {
  const std::string chunks = "5\r\nhello\r\n1;x=\"y\"\r\n \r\n00005\r\nworld\r\n0\r\nTrailer: v\r\n\r\nNEXT";
  for (std::size_t step = 1; step <= chunks.size(); ++step)
    for (const std::size_t max : {std::size_t(1), std::size_t(3), SIZE_MAX}) {
      std::string rest;
      CHECK(decode(http::framing::chunked, 0, chunks, step, max, &rest) == "hello world");
      CHECK(rest == "NEXT");
      CHECK(decode(http::framing::length, 7, "seven..NEXT", step, max, &rest) == "seven..");
      CHECK(rest == "NEXT");
      CHECK(decode(http::framing::until_close, 0, "all of it", step, max) == "all of it");
    }
  CHECK(decode(http::framing::none, 0, "x", 1, 1).empty());
}

TEST_CASE("body: cut short it is not complete") {
  CHECK(decode(http::framing::length, 7, "seven.", 100, 100) == "more");
  const std::string whole = "5\r\nhello\r\n0\r\n\r\n";
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK(decode(http::framing::chunked, 0, whole.substr(0, n), 100, 100) == "more");
}

TEST_CASE("body: malformed chunks are refused") {
  for (const std::string& wire : {"x\r\n"s,
                                  "\r\n"s,
                                  "5\nhello\r\n"s,
                                  "5\r\nhelloX"s,
                                  "5\r\nhello\n"s,
                                  " 5\r\nhello\r\n"s,
                                  "5 \r\nhello\r\n"s,
                                  "0x5\r\n"s,
                                  "-5\r\n"s,
                                  "+5\r\n"s,
                                  "1234567890123456\r\n"s,
                                  "ffffffffffffffff\r\n"s,
                                  "5;\x01\r\n"s,
                                  "5;a\n"s,
                                  "5;a\rb"s,
                                  "0\r\nX\r\n\r\n"s,
                                  "0\r\n: v\r\n\r\n"s,
                                  "0\r\nX: \x01\r\n\r\n"s,
                                  "0\r\nX: v\n"s,
                                  "0\r\n\rX"s,
                                  "0\r\n X: v\r\n\r\n"s,
                                  "5\r\nhello\r\n;\r\n"s,
                                  "g\r\n"s,
                                  "\0\r\n"s}) {
    INFO(wire);
    CHECK(decode(http::framing::chunked, 0, wire, 1, 100) == "refused 400");
    CHECK(decode(http::framing::chunked, 0, wire, 100, 100) == "refused 400");
  }
}

TEST_CASE("body: extensions and trailers have an end") {
  std::string wire;
  for (int i = 0; i < 100; ++i) wire += "1;" + std::string(1000, 'e') + "\r\nx\r\n";
  CHECK(decode(http::framing::chunked, 0, wire, 100, 100) == "refused 400");
  wire = "0\r\n";
  for (int i = 0; i < 100; ++i) wire += "A: " + std::string(1000, 'e') + "\r\n";
  CHECK(decode(http::framing::chunked, 0, wire, 100, 100) == "refused 431");
}

TEST_CASE("body: it says how much may be received without taking from the next message") {
  const http::head_limits limits;
  http::body_decoder d(limits);
  d.start(http::framing::length, 10);
  CHECK(d.wants() == 10);
  std::string text = "abc";
  std::span<char> input(text);
  d.next(input, 100);
  CHECK(d.wants() == 7);
  d.start(http::framing::chunked);
  CHECK(d.wants() == SIZE_MAX);
  d.start(http::framing::none);
  CHECK(d.wants() == 0);
}
