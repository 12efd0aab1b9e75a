#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/http/parser.hpp"

using namespace portico;
using http::parsed;

namespace {

// What became of a request: "400" and such, "more", or how it was understood.
std::string describe(const http::request_parser& p, parsed result) {
  if (result == parsed::more) return "more";
  if (result == parsed::refused) return std::to_string(p.why().status);
  const http::request_head& h = p.head();
  std::string s(h.method);
  s.append(" ").append(h.path).append("?").append(h.query).append(" @").append(h.authority);
  s += " 1." + std::to_string(h.minor_version) + " body=" + std::to_string(h.content_length) +
       (p.keep_alive() ? "" : " close") + (h.expects_continue ? " expects" : "");
  for (const http::field& f : h.headers) s.append("|").append(f.name).append("=").append(f.value);
  return s + "+" + std::to_string(p.size());
}

std::string parse(std::string text, const http::head_limits& limits = {}) {
  http::request_parser p(limits);
  return describe(p, p.parse(text.data(), text.size()));
}

// In pieces; each time the text is at another address, as when a buffer grows.
std::string parse_pieces(const std::string& text, const std::vector<std::size_t>& ends) {
  const http::head_limits limits;
  http::request_parser p(limits);
  std::string before;
  for (const std::size_t end : ends) {
    std::string now = before + text.substr(before.size(), end - before.size());
    const parsed result = p.parse(now.data(), now.size());
    before = now;
    if (result != parsed::more || end == text.size()) {
      std::string answer = describe(p, result);
      return answer;
    }
  }
  return "more";
}

std::string get(std::string_view rest) { return "GET / HTTP/1.1\r\nHost: h\r\n" + std::string(rest) + "\r\n"; }

struct shape {
  const char* name;
  std::string text, right;
};

const std::vector<shape>& good() {
  static const std::vector<shape> all = {
      {"the smallest", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /? @h 1.1 body=0|host=h+27"},
      {"what follows is not the head's", "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET ", "GET /? @h 1.1 body=0|host=h+27"},
      {"a query", "GET /a/b?c=d?e HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a/b?c=d?e @h 1.1 body=0|host=h+36"},
      {"an empty query", "GET /a? HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a? @h 1.1 body=0|host=h+29"},
      {"names in lower case, values trimmed", "GET / HTTP/1.1\r\nHOST: \t h \t\r\nX-A:b\r\nx-e:\r\nX-F: \r\n\r\n",
       "GET /? @h 1.1 body=0|host=h|x-a=b|x-e=|x-f=+51"},
      {"tabs and bytes above 127 in a value", "GET / HTTP/1.1\r\nHost: h\r\nX: a\tb\xc3\xa9\r\n\r\n",
       "GET /? @h 1.1 body=0|host=h|x=a\tb\xc3\xa9+37"},
      {"an odd but allowed name", "GET / HTTP/1.1\r\nHost: h\r\n!#$%&'*+-.^_`|~9: 1\r\n\r\n",
       "GET /? @h 1.1 body=0|host=h|!#$%&'*+-.^_`|~9=1+48"},
      {"one empty line before", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /? @h 1.1 body=0|host=h+29"},
      {"a length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n",
       "POST /? @h 1.1 body=5|host=h|content-length=5+47"},
      {"no length", "POST / HTTP/1.1\r\nHost: h\r\n\r\n", "POST /? @h 1.1 body=0|host=h+28"},
      {"chunks", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n",
       "POST /? @h 1.1 body=-1|host=h|transfer-encoding=Chunked+56"},
      {"close", get("Connection: x, Close\r\n"), "GET /? @h 1.1 body=0 close|host=h|connection=x, Close+49"},
      {"HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "GET /? @ 1.0 body=0 close+18"},
      {"HTTP/1.0 that stays", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
       "GET /? @ 1.0 body=0|connection=keep-alive+42"},
      {"absolute-form", "GET http://a.test:81/p?q HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET /p?q @a.test:81 1.1 body=0|host=h+46"},
      {"absolute-form without a path", "GET HTTP://a.test?q HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET /?q @a.test 1.1 body=0|host=h+41"},
      {"asterisk-form", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS *? @h 1.1 body=0|host=h+31"},
      {"absolute asterisk-form", "OPTIONS http://a HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS *? @a 1.1 body=0|host=h+38"},
      {"an unknown method", "FOO-BAR /x HTTP/1.1\r\nHost: h\r\n\r\n", "FOO-BAR /x? @h 1.1 body=0|host=h+32"},
      {"an IPv6 host", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET /? @[::1]:80 1.1 body=0|host=[::1]:80+34"},
      {"expectation", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n",
       "POST /? @h 1.1 body=5 expects|host=h|content-length=5|expect=100-Continue+69"},
      {"expectation without a body", get("Expect: 100-continue\r\n"),
       "GET /? @h 1.1 body=0|host=h|expect=100-continue+49"},
      {"characters clients do not encode", "GET /a|{}\"<>^`?b\\[] HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET /a|{}\"<>^`?b\\[] @h 1.1 body=0|host=h+41"},
  };
  return all;
}

const std::vector<shape>& bad() {
  using namespace std::string_literals;
  static const std::vector<shape> all = {
      {"bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", "400"},
      {"bare LF after a header", "GET / HTTP/1.1\r\nHost: h\n\r\n", "400"},
      {"bare LF at the end", "GET / HTTP/1.1\r\nHost: h\r\n\n", "400"},
      {"bare CR in a value", get("X: a\rb\r\n"), "400"},
      {"bare CR at the end", "GET / HTTP/1.1\r\nHost: h\r\n\rX", "400"},
      {"a folded header", get("X: a\r\n b\r\n"), "400"},
      {"a folded header with a tab", get("X: a\r\n\tb\r\n"), "400"},
      {"a space before the first header", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", "400"},
      {"a space before the colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", "400"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", "400"},
      {"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "400"},
      {"two Hosts", get("Host: h\r\n"), "400"},
      {"two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n", "400"},
      {"a Host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "400"},
      {"a Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400"},
      {"two names in one Host", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "400"},
      {"an empty port", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "400"},
      {"a port too high", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", "400"},
      {"an open bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "400"},
      {"a length and chunks", get("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "400"},
      {"chunks and a length", get("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), "400"},
      {"two lengths", get("Content-Length: 1\r\nContent-Length: 2\r\n"), "400"},
      {"two equal lengths", get("Content-Length: 1\r\nContent-Length: 1\r\n"), "400"},
      {"a list of lengths", get("Content-Length: 1, 1\r\n"), "400"},
      {"a length with a sign", get("Content-Length: +1\r\n"), "400"},
      {"a negative length", get("Content-Length: -1\r\n"), "400"},
      {"a hexadecimal length", get("Content-Length: 0x1\r\n"), "400"},
      {"an empty length", get("Content-Length:\r\n"), "400"},
      {"a length beyond all counting", get("Content-Length: 99999999999999999999\r\n"), "400"},
      {"another coding", get("Transfer-Encoding: gzip\r\n"), "501"},
      {"two codings", get("Transfer-Encoding: gzip, chunked\r\n"), "501"},
      {"chunked twice", get("Transfer-Encoding: chunked, chunked\r\n"), "501"},
      {"chunked in two headers", get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "501"},
      {"a hidden coding",
       get("Transfer-Encoding: \x0b"
           "chunked\r\n"),
       "400"},
      {"identity", get("Transfer-Encoding: identity\r\n"), "501"},
      {"an empty coding", get("Transfer-Encoding:\r\n"), "501"},
      {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
      {"NUL in the target", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n"s, "400"},
      {"NUL in a value", get("X: a\0b\r\n"s), "400"},
      {"NUL in a name", get("X\0Y: a\r\n"s), "400"},
      {"DEL in a value", get("X: a\x7f\r\n"), "400"},
      {"a header without a colon", get("Xyz\r\n"), "400"},
      {"a header without a name", get(": x\r\n"), "400"},
      {"a name with a bracket", get("X(y): x\r\n"), "400"},
      {"a name above 127", get("\xc3\xa9: x\r\n"), "400"},
      {"a method in small letters", "get / HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a method with a bracket", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a method too long", std::string(40, 'M') + " / HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a space before the method", " GET / HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"two spaces before the version", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a space after the version", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", "400"},
      {"a tab for a space", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"no version", "GET /\r\n\r\n", "400"},
      {"no target", "GET HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"HTTP/2.0 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"},
      {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", "505"},
      {"HTTP/9.9", "GET / HTTP/9.9\r\nHost: h\r\n\r\n", "505"},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: h\r\n\r\n", "505"},
      {"http/1.1", "GET / http/1.1\r\nHost: h\r\n\r\n", "400"},
      {"HTTP/11", "GET / HTTP/11\r\nHost: h\r\n\r\n", "400"},
      {"a fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a fragment in the query", "GET /a?b#c HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a backslash in the path", "GET /a\\b HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a byte above 127 in the path", "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"asterisk-form of GET", "GET * HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"asterisk with a query", "OPTIONS *?a HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"asterisk with more", "OPTIONS *x HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a relative target", "GET a HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"another scheme", "GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"a user in the target", "GET http://a@h/ HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"no authority in the target", "GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "501"},
      {"an unknown expectation", get("Expect: 200-ok\r\n"), "417"},
      {"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400"},
  };
  return all;
}

std::vector<shape> all_shapes() {
  std::vector<shape> all = good();
  all.insert(all.end(), bad().begin(), bad().end());
  return all;
}

}  // namespace

TEST_CASE("request: well-formed heads are understood") {
  for (const shape& s : good()) {
    INFO(s.name);
    CHECK(parse(s.text) == s.right);
  }
}

TEST_CASE("request: what two readers could understand differently is refused") {
  for (const shape& s : bad()) {
    INFO(s.name);
    CHECK(parse(s.text) == s.right);
  }
}

TEST_CASE("request: cut at any offset it is understood the same") {
  for (const shape& s : all_shapes())
    for (std::size_t cut = 0; cut <= s.text.size(); ++cut) {
      INFO(s.name << " cut at " << cut);
      CHECK(parse_pieces(s.text, {cut, s.text.size()}).substr(0, s.right.size()) == s.right);
    }
}

TEST_CASE("request: byte by byte it is understood the same") {
  for (const shape& s : all_shapes()) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i <= s.text.size(); ++i) ends.push_back(i);
    INFO(s.name);
    CHECK(parse_pieces(s.text, ends) == s.right);
  }
}

TEST_CASE("request: a head that is not complete waits for more") {
  const std::string whole = "POST /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n";
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK(parse(whole.substr(0, n)) == "more");
}

TEST_CASE("request: bad bytes are refused before the line is complete") {
  CHECK(parse("\x16") == "400");
  CHECK(parse("GET /\x01") == "400");
  CHECK(parse("GET / HTTX") == "400");
  CHECK(parse("GET / HTTP/1.1\r\nHost: a\x02") == "400");
  CHECK(parse("GET / HTTP/1.1\r\nHo st") == "400");
}

TEST_CASE("request: limits hold to the byte") {
  http::head_limits limits;
  limits.max_request_line = 20;
  CHECK(parse("GET /1234 HTTP/1.1\r\nHost: h\r\n\r\n", limits).substr(0, 3) == "GET");
  CHECK(parse("GET /12345 HTTP/1.1\r\nHost: h\r\n\r\n", limits) == "414");
  CHECK(parse("GET /" + std::string(70'000, 'a'), limits) == "414");
  CHECK(parse("GET /?" + std::string(70'000, 'a'), limits) == "414");
  limits = {};
  limits.max_header_line = 10;
  CHECK(parse("GET / HTTP/1.1\r\nHost: hello\r\n\r\n", limits) == "431");
  CHECK(parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n", limits).substr(0, 3) == "GET");
  CHECK(parse("GET / HTTP/1.1\r\nHosthosthost", limits) == "431");
  CHECK(parse("GET / HTTP/1.1\r\nHost:             ", limits) == "431");
  limits = {};
  limits.max_headers = 2;
  CHECK(parse(get("A: b\r\n"), limits).substr(0, 3) == "GET");
  CHECK(parse(get("A: b\r\nC: d\r\n"), limits) == "431");
  limits = {};
  limits.max_header_bytes = 30;
  CHECK(parse(get("A: 123456789012345\r\n"), limits).substr(0, 3) == "GET");
  CHECK(parse(get("A: 1234567890123456789\r\n"), limits) == "431");
}

TEST_CASE("request: a parser is used again after reset") {
  const http::head_limits limits;
  http::request_parser p(limits);
  std::string first = "POST /x?y HTTP/1.0\r\nA: b\r\nContent-Length: 3\r\n\r\n",
              second = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  CHECK_FALSE(p.started());
  REQUIRE(p.parse(first.data(), first.size()) == parsed::complete);
  CHECK(p.started());
  p.reset();
  CHECK_FALSE(p.started());
  CHECK(describe(p, p.parse(second.data(), second.size())) == "GET /? @h 1.1 body=0|host=h+27");
}

TEST_CASE("request: noise is never understood and never harms") {
  std::mt19937 random(20261130);
  for (int round = 0; round < 20'000; ++round) {
    std::string noise(1 + random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    const std::string result = parse(noise);
    CHECK((result == "400" || result == "more"));
  }
}
