// Requests and answers over real sockets: what a client sees, and what the holder of an exchange is told.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <numeric>

#include "core/http/byte_stream.hpp"
#include "core/http/router.hpp"
#include "support.hpp"

using namespace testing_http;

namespace {

// Reads the whole body, then answers with it.
struct echo {
  http::exchange& e;
  std::string_view piece;
  std::string all;
  explicit echo(http::exchange& x) : e(x) { next(); }
  void next() {
    base::status s;
    while ((s = e.read(0, &piece, done, this)) == base::ready) {
      if (piece.empty()) return end();
      all += piece;
    }
    if (s != base::ok) fail(s);
  }
  static void done(void* self, base::status s) {
    auto* me = static_cast<echo*>(self);
    if (s != base::ok) return me->fail(s);
    if (me->piece.empty()) return me->end();
    me->all += me->piece;
    me->next();
  }
  void end() {
    http::answer(e, 200, "text/plain", all);
    delete this;
  }
  void fail(base::status s) {
    if (s == base::closed)
      e.abort();
    else
      http::answer_error(e, s == base::limit ? 413 : 408, "failed", std::to_string(s));
    delete this;
  }
};

void ok(http::exchange& e) { http::answer(e, 200, "text/plain", e.head().path); }

}  // namespace

TEST_CASE("exchange: a connection is kept for the next request") {
  running_server s(ok);
  client c(s.port());
  for (int i = 0; i < 50; ++i) {
    c.send(request("GET", "/" + std::to_string(i)));
    CHECK(read_response(c).body == "/" + std::to_string(i));
  }
  CHECK(s.server().stats().connections_accepted == 1);
  CHECK(s.server().stats().requests == 50);
}

TEST_CASE("exchange: Connection: close is honoured and said") {
  running_server s(ok);
  client c(s.port());
  c.send(request("GET", "/a", "Connection: close\r\n"));
  const response r = read_response(c);
  CHECK(r.header("connection") == "close");
  CHECK(c.closed());
}

TEST_CASE("exchange: requests sent ahead are answered in order") {
  running_server s(ok);
  client c(s.port());
  std::string all;
  for (int i = 0; i < 500; ++i) all += request("GET", "/" + std::to_string(i));
  c.send(all);
  for (int i = 0; i < 500; ++i) REQUIRE(read_response(c).body == "/" + std::to_string(i));
}

TEST_CASE("exchange: a client that sends ahead and then only listens gets all its answers") {
  running_server s(ok);
  client c(s.port());
  std::string all;
  for (int i = 0; i < 100; ++i) all += request("GET", "/" + std::to_string(i));
  c.send(all);
  c.half_close();
  for (int i = 0; i < 100; ++i) REQUIRE(read_response(c).body == "/" + std::to_string(i));
  CHECK(c.closed());
}

TEST_CASE("exchange: requests sent ahead wait for one that takes its time") {
  http::exchange* held = nullptr;
  std::atomic<int> begun{0};
  running_server s([&](http::exchange& e) {
    ++begun;
    if (e.head().path == "/slow")
      held = &e;
    else
      ok(e);
  });
  client c(s.port());
  c.send(request("GET", "/slow") + request("GET", "/fast"));
  REQUIRE(eventually([&] { return begun == 1; }));
  CHECK(c.until("x", 100ms).empty());
  CHECK(begun == 1);
  s.on_loop(0, [&] { ok(*held); });
  CHECK(read_response(c).body == "/slow");
  CHECK(read_response(c).body == "/fast");
}

TEST_CASE("exchange: requests sent ahead with bodies stay apart") {
  running_server s([](http::exchange& e) { new echo(e); });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 5\r\n") + "first" +
         request("POST", "/", "Transfer-Encoding: chunked\r\n") + "3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n" +
         request("GET", "/") + request("POST", "/", "Content-Length: 5\r\n") + "third");
  CHECK(read_response(c).body == "first");
  CHECK(read_response(c).body == "second");
  CHECK(read_response(c).body.empty());
  CHECK(read_response(c).body == "third");
}

TEST_CASE("exchange: a body cut anywhere arrives whole, with both framings") {
  running_server s([](http::exchange& e) { new echo(e); });
  const std::string fixed = request("POST", "/", "Content-Length: 11\r\n") + "hello world";
  const std::string chunked =
      request("POST", "/", "Transfer-Encoding: chunked\r\n") + "6;x\r\nhello \r\n5\r\nworld\r\n0\r\nT: v\r\n\r\n";
  for (const std::string& text : {fixed, chunked}) {
    client c(s.port());
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      c.send(text.substr(0, cut));
      std::this_thread::sleep_for(1ms);
      c.send(text.substr(cut));
      const response r = read_response(c);
      INFO("cut at " << cut);
      REQUIRE(r.status == 200);
      REQUIRE(r.body == "hello world");
    }
  }
}

TEST_CASE("exchange: 100 Continue is sent at the first read, and not before") {
  http::exchange* held = nullptr;
  std::atomic<bool> there{false};
  running_server s([&](http::exchange& e) {
    held = &e;
    there = true;
  });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 4\r\nExpect: 100-continue\r\n"));
  REQUIRE(eventually([&] { return there.load(); }));
  CHECK(c.until("100", 50ms).empty());
  s.on_loop(0, [&] { new echo(*held); });
  CHECK(c.until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  c.send("body");
  CHECK(read_response(c).body == "body");
  c.send(request("POST", "/", "Content-Length: 4\r\nExpect: 100-continue\r\n") + "here");
  s.on_loop(0, [&] { new echo(*held); });
  CHECK(read_response(c).body == "here");  // nothing to continue: the body was there
}

TEST_CASE("exchange: an expectation can be answered with an error and no body is read") {
  running_server s([](http::exchange& e) { http::answer_error(e, 413, "payload_too_large", "no"); });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 4\r\nExpect: 100-continue\r\n"));
  const response r = read_response(c);
  CHECK(r.status == 413);
  CHECK(r.header("connection") == "close");
  c.half_close();
  CHECK(c.closed());
}

TEST_CASE("exchange: calls at the wrong moment are told so") {
  std::promise<std::vector<base::status>> result;
  std::string_view piece;
  running_server s([&](http::exchange& e) {
    std::vector<base::status> all;
    const auto never = [](void*, base::status) {};
    all.push_back(e.write("x", nullptr, nullptr));
    EXPECT_HERE(e.read(0, &piece, never, nullptr) == base::ok);
    all.push_back(e.read(0, &piece, never, nullptr));
    all.push_back(e.finish());
    all.push_back(e.abort());
    EXPECT_HERE(e.busy());
    EXPECT_HERE(e.begin(200, {}, 0) == base::ok);
    all.push_back(e.begin(200, {}, 0));
    result.set_value(all);
    e.cancel();
  });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 4\r\n"));
  for (const base::status one : result.get_future().get()) CHECK(one == base::state);
}

TEST_CASE("exchange: the access log hears of each answer once its bytes are gone") {
  running_server s(ok);
  client c(s.port());
  c.send(request("GET", "/abc") + request("HEAD", "/abc"));
  read_response(c);
  read_response(c, true);
  REQUIRE(eventually([&] { return s.told().size() == 2; }));
  CHECK(s.told()[0].status == 200);
  CHECK(s.told()[0].bytes == 4);
  CHECK(s.told()[1].bytes == 0);
}

TEST_CASE("exchange: parameters are decoded and named") {
  http::route r;
  r.param_names = {"id", "rest"};
  r.max_body = 5;
  std::promise<std::string> seen;
  running_server s([&](http::exchange& e) {
    const std::string_view raw[] = {"a%2Fb%20c", "x/y"};
    e.set_match(&r, raw);
    std::string all;
    for (const http::field& f : e.params()) all.append(f.name).append("=").append(f.value).append(";");
    all.append(e.base_url())
        .append(";")
        .append(e.scheme())
        .append(";")
        .append(e.peer())
        .append(e.peer_port() > 0 ? ";" : "");
    all += e.too_long() ? "too long" : "";
    seen.set_value(all);
    EXPECT_HERE(e.id().size() > 8);
    EXPECT_HERE(e.matched() == &r);
    ok(e);
  });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 6\r\n") + "123456");
  CHECK(seen.get_future().get() == "id=a/b c;rest=x/y;http://127.0.0.1;http;127.0.0.1;too long");
  CHECK(read_response(c).status == 200);
}

TEST_CASE("exchange: an upgrade hands on the bytes behind it") {
  struct owner : http::byte_stream::observer {
    std::unique_ptr<http::byte_stream> stream;
    std::string got;
    void on_bytes() noexcept override {
      std::array<char, 4> room;  // small, so that it takes several calls
      std::size_t n = 0;
      base::status st;
      while ((st = stream->receive(room.data(), room.size(), &n)) == base::ready) {
        got.append(room.data(), n);
        stream->send({room.data(), n});
      }
      if (st == base::closed) stream.reset();
    }
    void on_drained() noexcept override {}
    void on_lost(base::status) noexcept override { stream.reset(); }
  } o;
  running_server s([&](http::exchange& e) {
    EXPECT_HERE(e.upgrade("ec ho", {}, &o.stream) == base::argument);
    EXPECT_HERE(e.upgrade("echo", {}, &o.stream) == base::ok);
    o.stream->observe(o, 0);
  });
  client c(s.port());
  c.send(request("GET", "/", "Connection: Upgrade\r\nUpgrade: echo\r\n") + "early bytes");
  const std::string head = c.until("\r\n\r\n");
  CHECK(head.substr(0, 34) == "HTTP/1.1 101 Switching Protocols\r\n");
  CHECK(head.find("Upgrade: echo\r\n") != std::string::npos);
  CHECK(head.find("Connection: Upgrade\r\n") != std::string::npos);
  CHECK(c.exactly(11) == "early bytes");
  c.send("and later ones");
  CHECK(c.exactly(14) == "and later ones");
  c.half_close();
  CHECK(c.closed());
  CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
  CHECK(s.told().size() == 1);
}
