// What an answer looks like on the wire.
#include <catch2/catch.hpp>
#include <future>

#include "support.hpp"

using namespace testing_http;

namespace {
void ok(http::exchange& e) { http::answer(e, 200, "text/plain", e.head().path); }
}  // namespace

TEST_CASE("answer: an answer has the engine's headers and the holder's") {
  running_server s([](http::exchange& e) {
    e.add_response_header("X-First", "1");
    const http::field more{"X-Second", "2"};
    http::answer(e, 201, "text/plain", "hello", {&more, 1});
  });
  client c(s.port());
  c.send(request("GET", "/"));
  const response r = read_response(c);
  CHECK(r.status == 201);
  CHECK(r.body == "hello");
  CHECK(r.header("x-first") == "1");
  CHECK(r.header("x-second") == "2");
  CHECK(r.header("content-length") == "5");
  CHECK(r.header("content-type") == "text/plain");
  CHECK(r.header("date").size() == 29);
  CHECK(r.header("date").substr(25) == " GMT");
  CHECK(r.header("connection").empty());
}

TEST_CASE("answer: HEAD has the headers of GET and no body") {
  running_server s([](http::exchange& e) {
    if (e.head().path == "/chunks") {
      e.begin(200, {}, -1);
      e.write("dropped", nullptr, nullptr);
      e.finish();
    } else {
      http::answer(e, 200, "text/plain", "hello");
    }
  });
  client c(s.port());
  c.send(request("HEAD", "/") + request("HEAD", "/chunks") + request("GET", "/"));
  response r = read_response(c, true);
  CHECK(r.header("content-length") == "5");
  r = read_response(c, true);
  CHECK(r.header("transfer-encoding") == "chunked");
  CHECK(read_response(c).body == "hello");
}

TEST_CASE("answer: 204 and 304 have neither body nor length") {
  running_server s([](http::exchange& e) {
    e.begin(e.head().path == "/204" ? 204 : 304, {}, -1);
    e.finish();
  });
  client c(s.port());
  for (const int status : {204, 304}) {
    c.send(request("GET", "/" + std::to_string(status)));
    const response r = read_response(c);
    CHECK(r.status == status);
    CHECK(r.header("content-length").empty());
    CHECK(r.header("transfer-encoding").empty());
  }
}

TEST_CASE("answer: HTTP/1.0 gets no chunks, and the connection ends with the answer") {
  running_server s([](http::exchange& e) {
    e.begin(200, {}, -1);
    e.write("one", nullptr, nullptr);
    e.write("two", nullptr, nullptr);
    e.finish();
  });
  client c(s.port());
  c.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const response r = read_response(c);
  CHECK(r.header("transfer-encoding").empty());
  CHECK(r.header("connection") == "close");
  CHECK(r.body == "onetwo");
}

TEST_CASE("answer: HTTP/1.0 may stay where it asks for it and the length is known") {
  running_server s(ok);
  client c(s.port());
  for (int i = 0; i < 2; ++i) {
    c.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const response r = read_response(c);
    CHECK(r.header("connection") == "keep-alive");
    CHECK(r.body == "/a");
  }
  c.send("GET /a HTTP/1.0\r\n\r\n");
  CHECK(read_response(c).header("connection") == "close");
  CHECK(c.closed());
}

TEST_CASE("answer: what cannot be sent is refused and nothing is sent") {
  std::promise<std::vector<base::status>> result;
  running_server s([&](http::exchange& e) {
    std::vector<base::status> all;
    const auto with = [&](std::string_view name, std::string_view value) {
      const http::field f{name, value};
      all.push_back(e.begin(200, {&f, 1}, 0));
    };
    with("X", "a\r\nEvil: 1"), with("X", std::string_view("\0", 1)), with("", "x"), with("a b", "x"), with("X:", "x");
    with("Content-Length", "1"), with("transfer-encoding", "chunked"), with("CONNECTION", "close"), with("Date", "now");
    all.push_back(e.begin(199, {}, 0)), all.push_back(e.begin(600, {}, 0)), all.push_back(e.begin(200, {}, -2));
    e.add_response_header("X", "a\nb");
    all.push_back(e.begin(200, {}, 3) == base::ok ? base::argument : base::ok);
    all.push_back(e.write("four", nullptr, nullptr));
    e.write("yes", nullptr, nullptr);
    e.finish();
    result.set_value(all);
  });
  client c(s.port());
  c.send(request("GET", "/"));
  const response r = read_response(c);
  CHECK(r.body == "yes");
  CHECK(r.head.find("Evil") == std::string::npos);
  CHECK(r.header("x").empty());
  for (const base::status one : result.get_future().get()) CHECK(one == base::argument);
}

TEST_CASE("answer: an answer that is never begun becomes 500, and a short one breaks off") {
  running_server s([](http::exchange& e) {
    if (e.head().path == "/none") {
      e.finish();
      return;
    }
    e.begin(200, {}, 10);
    e.write("four", nullptr, nullptr);
    e.finish();
  });
  client c(s.port());
  c.send(request("GET", "/none"));
  CHECK(read_response(c).status == 500);
  c.send(request("GET", "/short"));
  const std::string got = c.to_end();
  CHECK(got.find("\r\n\r\nfour1") == std::string::npos);
  CHECK(c.was_reset());
}

TEST_CASE("answer: abort resets the connection") {
  running_server s([](http::exchange& e) {
    e.begin(200, {}, -1);
    e.write("part", nullptr, nullptr);
    e.abort();
  });
  client c(s.port());
  c.send(request("GET", "/"));
  c.to_end();
  CHECK(c.was_reset());
  CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
}

TEST_CASE("answer: writes of one turn leave as one piece") {
  running_server s([](http::exchange& e) {
    e.begin(200, {}, -1);
    for (int i = 0; i < 3; ++i) e.write("abc", nullptr, nullptr);
    e.finish();
  });
  client c(s.port());
  c.send(request("GET", "/"));
  pollfd wait{c.fd(), POLLIN, 0};
  REQUIRE(::poll(&wait, 1, 5000) == 1);
  std::string all(4096, '\0');
  const ssize_t n = ::recv(c.fd(), all.data(), all.size(), 0);
  all.resize(static_cast<std::size_t>(n));
  CHECK(all.substr(all.find("\r\n\r\n") + 4) == "3\r\nabc\r\n3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n");
}
