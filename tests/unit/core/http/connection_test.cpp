// Clients that misbehave, go away, or are slow.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <random>

#include "support.hpp"

using namespace testing_http;

namespace {

void ok(http::exchange& e) { http::answer(e, 200, "text/plain", "fine"); }

// Sends, and gives the status of the one answer; the connection must end.
int refused(std::uint16_t port, std::string_view bytes) {
  client c(port);
  c.send(bytes);
  const response r = read_response(c);
  CHECK(r.header("connection") == "close");
  CHECK(r.body.substr(0, 18) == R"({"error":{"code":")");
  c.half_close();
  CHECK(c.closed(1s));
  return r.status;
}

// An exchange that is held, and what its holder was told.
struct holder {
  std::atomic<http::exchange*> e{nullptr};
  std::atomic<int> told{1000}, read{1000}, wrote{1000};
  std::string_view piece;
  static void on_told(void* self, base::status s) { static_cast<holder*>(self)->told = s; }
  static void on_read(void* self, base::status s) { static_cast<holder*>(self)->read = s; }
  static void on_wrote(void* self, base::status s) { static_cast<holder*>(self)->wrote = s; }
};

}  // namespace

TEST_CASE("connection: malformed input is answered by the engine, closed, and never handed on") {
  std::atomic<int> seen{0};
  running_server s([&](http::exchange& e) {
    ++seen;
    ok(e);
  });
  const std::uint16_t p = s.port();
  CHECK(refused(p, "GET / HTTP/1.1\nHost: h\n\n") == 400);
  CHECK(refused(p, "GET / HTTP/1.1\r\nHost : h\r\n\r\n") == 400);
  CHECK(refused(p, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") ==
        400);
  CHECK(refused(p, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n") == 501);
  CHECK(refused(p, "GET / HTTP/9.9\r\nHost: h\r\n\r\n") == 505);
  CHECK(refused(p, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 400);
  CHECK(refused(p, "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n") == 501);
  CHECK(refused(p, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") == 400);
  CHECK(refused(p, request("GET", "/#x")) == 400);
  CHECK(refused(p, request("GET", "/" + std::string(70'000, 'u'))) == 414);
  CHECK(refused(p, request("GET", "/", "X: " + std::string(20'000, 'v') + "\r\n")) == 431);
  std::string many;
  for (int i = 0; i < 400; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  CHECK(refused(p, request("GET", "/", many)) == 431);
  CHECK(seen == 0);
  CHECK(s.server().stats().requests == 0);
  CHECK(s.server().stats().responses_4xx + s.server().stats().responses_5xx == 12);
}

TEST_CASE("connection: a good request before a bad one is still answered") {
  running_server s(ok);
  client c(s.port());
  c.send(request("GET", "/") + "BAD\n");
  CHECK(read_response(c).status == 200);
  CHECK(read_response(c).status == 400);
}

TEST_CASE("connection: a head byte by byte, and cut at every offset, is answered") {
  running_server s(ok);
  const std::string text = request("GET", "/api/v2/health");
  client c(s.port());
  for (const char one : text) {
    c.send({&one, 1});
    std::this_thread::sleep_for(1ms);
  }
  CHECK(read_response(c).status == 200);
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    c.send(text.substr(0, cut));
    std::this_thread::sleep_for(2ms);
    c.send(text.substr(cut));
    REQUIRE(read_response(c).status == 200);
  }
}

TEST_CASE("connection: a thousand clients of noise are turned away while others are served") {
  running_server s(ok, {}, 2);
  std::mt19937 random(7);
  std::vector<std::unique_ptr<client>> noisy;
  std::chrono::steady_clock::duration slowest{};
  for (int i = 0; i < 1000; ++i) {
    noisy.push_back(std::make_unique<client>(s.port()));
    std::string noise(200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    noisy.back()->send(noise);
    if (i % 50 == 0) {
      const auto begin = std::chrono::steady_clock::now();
      client c(s.port());
      CHECK(read_response(c.send(request("GET", "/"))).status == 200);
      slowest = std::max(slowest, std::chrono::steady_clock::now() - begin);
    }
    if (noisy.size() == 100) {
      for (auto& c : noisy) {
        CHECK(c->until("\r\n\r\n", 1s).substr(0, 24) == "HTTP/1.1 400 Bad Request");
        c->half_close();
        CHECK(c->closed(1s));
      }
      noisy.clear();
    }
  }
  CHECK(slowest < 500ms);
  CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
}

TEST_CASE("connection: malformed chunks are answered with 400, and the holder finds the client gone") {
  holder h;
  running_server s([&](http::exchange& e) {
    h.e = &e;
    e.on_close(holder::on_told, &h);
    EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
  });
  client c(s.port());
  c.send(request("POST", "/", "Transfer-Encoding: chunked\r\n"));
  REQUIRE(eventually([&] { return h.e != nullptr; }));
  c.send("zz\r\n");
  const response r = read_response(c);
  CHECK(r.status == 400);
  CHECK(h.read == base::closed);
  CHECK(h.told == base::closed);
  s.on_loop(0, [&] {
    CHECK(h.e.load()->begin(200, {}, 0) == base::closed);
    CHECK(h.e.load()->abort() == base::ok);
  });
  c.half_close();
  CHECK(c.closed());
  CHECK(s.told().size() == 1);
  CHECK(s.told()[0].status == 400);
}

TEST_CASE("connection: a body over the limit is told to the reader, and 413 can be read by the client") {
  http::limits l;
  l.max_body = 1000;
  std::string_view piece;
  running_server s(
      [&](http::exchange& e) {
        EXPECT_HERE(e.read(
                        0, &piece, [](void*, base::status) {}, nullptr) == base::limit);
        http::answer_error(e, 413, "payload_too_large", "too long");
      },
      l);
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 8000000\r\n"));
  c.send(std::string(8'000'000, 'x'));
  const response r = read_response(c);
  CHECK(r.status == 413);
  CHECK(r.body == R"({"error":{"code":"payload_too_large","message":"too long","details":null}})");
  c.half_close();
  c.closed();
  CHECK_FALSE(c.was_reset());
}

TEST_CASE("connection: chunks over the limit are noticed as they come") {
  http::limits l;
  l.max_body = 10;
  holder h;
  running_server s(
      [&](http::exchange& e) {
        h.e = &e;
        EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
      },
      l);
  client c(s.port());
  c.send(request("POST", "/", "Transfer-Encoding: chunked\r\n"));
  REQUIRE(eventually([&] { return h.e != nullptr; }));
  c.send("b\r\nhello world\r\n");
  REQUIRE(eventually([&] { return h.read == base::limit; }));
  s.on_loop(0, [&] { http::answer_error(*h.e.load(), 413, "payload_too_large", "no"); });
  CHECK(read_response(c).status == 413);
}

TEST_CASE("connection: a head that does not come in time is 408, and silence just ends") {
  http::limits l;
  l.head_timeout = 100ms;
  l.keep_alive = 300ms;
  running_server s(ok, l);
  client slow(s.port()), silent(s.port()), served(s.port());
  slow.send("GET / HT");
  CHECK(read_response(slow).status == 408);
  CHECK(read_response(served.send(request("GET", "/"))).status == 200);
  CHECK(silent.to_end(2s).empty());
  CHECK(served.to_end(2s).empty());
  CHECK(eventually([&] { return s.server().stats().connections_open <= 1; }));
}

TEST_CASE("connection: bytes that trickle do not extend the time for a head") {
  http::limits l;
  l.head_timeout = 200ms;
  running_server s(ok, l);
  client c(s.port());
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = request("GET", "/" + std::string(1000, 'a'));
  for (std::size_t i = 0; i < text.size() && std::chrono::steady_clock::now() - begin < 400ms; ++i) {
    c.send(text.substr(i, 1));
    std::this_thread::sleep_for(5ms);
  }
  CHECK(read_response(c).status == 408);
}

TEST_CASE("connection: a body that stops coming is told to the reader, who can still answer") {
  http::limits l;
  l.body_timeout = 100ms;
  holder h;
  running_server s(
      [&](http::exchange& e) {
        h.e = &e;
        EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
      },
      l);
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 10\r\n"));
  REQUIRE(eventually([&] { return h.read == base::timeout; }));
  s.on_loop(0, [&] { http::answer_error(*h.e.load(), 408, "request_timeout", "slow"); });
  CHECK(read_response(c).status == 408);
}

TEST_CASE("connection: the deadline of an exchange ends what waits, and the answer can still be given") {
  http::limits l;
  l.request_timeout = 100ms;
  holder h;
  running_server s(
      [&](http::exchange& e) {
        h.e = &e;
        e.on_close(holder::on_told, &h);
        if (e.head().content_length > 0) EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
      },
      l);
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 10\r\n"));
  REQUIRE(eventually([&] { return h.told == base::timeout; }));
  CHECK(h.read == base::timeout);
  s.on_loop(0, [&] {
    CHECK(h.e.load()->read(0, &h.piece, holder::on_read, &h) == base::timeout);
    http::answer_error(*h.e.load(), 503, "timeout", "late");
  });
  CHECK(read_response(c).status == 503);
}

TEST_CASE("connection: a deadline can be set, moved and taken away") {
  holder h;
  running_server s([&](http::exchange& e) {
    e.on_close(holder::on_told, &h);
    e.deadline(50);
    e.deadline(0);
    h.e = &e;
  });
  client c(s.port());
  c.send(request("GET", "/"));
  REQUIRE(eventually([&] { return h.e != nullptr; }));
  std::this_thread::sleep_for(150ms);
  CHECK(h.told == 1000);
  s.on_loop(0, [&] { h.e.load()->deadline(20); });
  REQUIRE(eventually([&] { return h.told == base::timeout; }));
  s.on_loop(0, [&] { ok(*h.e.load()); });
  CHECK(read_response(c).status == 200);
}

TEST_CASE("connection: a client that goes is noticed while nothing is written") {
  for (const bool hard : {false, true}) {
    holder h;
    running_server s([&](http::exchange& e) {
      EXPECT_HERE(e.on_close(holder::on_told, &h) == base::ok);
      h.e = &e;
    });
    client c(s.port());
    c.send(request("GET", "/"));
    REQUIRE(eventually([&] { return h.e != nullptr; }));
    CHECK(h.told == 1000);
    hard ? c.reset() : c.close();
    REQUIRE(eventually([&] { return h.told == base::closed; }));
    CHECK(s.server().stats().connections_open == 1);  // the exchange is still held
    s.on_loop(0, [&] {
      CHECK(h.e.load()->closed());
      h.e.load()->begin(200, {}, -1);
      CHECK(h.e.load()->finish() == base::ok);
    });
    CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
    CHECK(s.told().size() == 1);
  }
}

TEST_CASE("connection: a client that goes in the middle of its body ends the read") {
  holder h;
  running_server s([&](http::exchange& e) {
    EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
    h.e = &e;
  });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 10\r\n"));
  REQUIRE(eventually([&] { return h.e != nullptr; }));
  c.close();
  REQUIRE(eventually([&] { return h.read == base::closed; }));
  s.on_loop(0, [&] {
    CHECK(h.e.load()->read(0, &h.piece, holder::on_read, &h) == base::closed);
    CHECK(h.e.load()->abort() == base::ok);
  });
  CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
}

TEST_CASE("connection: a client that has said all and still listens gets its answer") {
  holder h;
  running_server s([&](http::exchange& e) { h.e = &e; });
  client c(s.port());
  c.send(request("GET", "/"));
  c.half_close();
  REQUIRE(eventually([&] { return h.e != nullptr; }));
  std::this_thread::sleep_for(20ms);
  s.on_loop(0, [&] { ok(*h.e.load()); });
  CHECK(read_response(c).body == "fine");
  CHECK(c.closed());
}

TEST_CASE("connection: being told comes later, also when the client has gone before it is asked for") {
  holder h;
  running_server s([&](http::exchange& e) { h.e = &e; });
  client c(s.port());
  c.send(request("GET", "/"));
  REQUIRE(eventually([&] { return h.e != nullptr; }));
  c.close();
  bool gone = false;
  REQUIRE(eventually([&] {
    s.on_loop(0, [&] { gone = h.e.load()->closed(); });
    return gone;
  }));
  s.on_loop(0, [&] {
    h.e.load()->on_close(holder::on_told, &h);
    CHECK(h.told == 1000);
  });
  CHECK(eventually([&] { return h.told == base::closed; }));
  s.on_loop(0, [&] { CHECK(h.e.load()->abort() == base::ok); });
}

TEST_CASE("connection: cancel ends what waits later, and no byte is lost") {
  holder h;
  running_server s([&](http::exchange& e) {
    EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
    EXPECT_HERE(e.cancel() == base::ok);
    EXPECT_HERE(h.read == 1000);
    EXPECT_HERE(e.finish() == base::state);
    h.e = &e;
  });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 5\r\n"));
  REQUIRE(eventually([&] { return h.read == base::cancelled; }));
  c.send("12345");
  h.read = 1000;
  s.on_loop(0, [&] {
    const base::status st = h.e.load()->read(0, &h.piece, holder::on_read, &h);
    if (st == base::ready) h.read = base::ok;
  });
  REQUIRE(eventually([&] { return h.read == base::ok; }));
  s.on_loop(0, [&] {
    CHECK(h.piece == "12345");
    ok(*h.e.load());
  });
  CHECK(read_response(c).status == 200);
}

TEST_CASE("connection: stop ends what waits, and later waits fail at once") {
  holder h;
  running_server s([&](http::exchange& e) {
    e.on_close(holder::on_told, &h);
    EXPECT_HERE(e.read(0, &h.piece, holder::on_read, &h) == base::ok);
    e.stop();
    EXPECT_HERE(h.read == 1000);
    h.e = &e;
  });
  client c(s.port());
  c.send(request("POST", "/", "Content-Length: 5\r\n"));
  REQUIRE(eventually([&] { return h.told == base::cancelled; }));
  CHECK(h.read == base::cancelled);
  s.on_loop(0, [&] {
    CHECK(h.e.load()->read(0, &h.piece, holder::on_read, &h) == base::cancelled);
    http::answer_error(*h.e.load(), 503, "stopping", "stopping");
  });
  CHECK(read_response(c).status == 503);
}
