// Nothing buffers without bound: a slow reader stops the writer, and a slow holder stops the client.
#include <atomic>
#include <catch2/catch.hpp>
#include <utility>

#include "support.hpp"

using namespace testing_http;

namespace {

// Writes the same piece until it has written all, or is told that the client has gone.
struct source {
  http::exchange* e = nullptr;
  std::string piece;
  std::size_t left = 0;
  std::atomic<std::size_t> written{0};
  std::atomic<int> result{1000};
  void start(http::exchange& x, std::size_t total, std::size_t size) {
    e = &x;
    left = total;
    piece.assign(size, 'p');
    e->begin(200, {}, -1);
    next();
  }
  void next() {
    while (left > 0) {
      const std::string_view now = std::string_view(piece).substr(0, left);
      const base::status s = e->write(now, done, this);
      if (s < 0) return end(s);
      left -= now.size();
      written += now.size();
      if (s == base::ok) return;
    }
    end(base::ok);
  }
  static void done(void* self, base::status s) {
    auto* me = static_cast<source*>(self);
    s == base::ok ? me->next() : me->end(s);
  }
  void end(base::status s) {
    s == base::ok ? e->finish() : e->abort();
    result = s;
  }
};

}  // namespace

TEST_CASE("back-pressure: a client that does not read stops the writer, and one that reads on gets it all") {
  for (const std::size_t size : {std::size_t(1000), std::size_t(100'000)}) {
    source from;
    running_server s([&](http::exchange& e) { from.start(e, 20'000'000, size); });
    client c(s.port(), 4096);
    c.send(request("GET", "/"));
    REQUIRE(eventually([&] { return from.written > 100'000; }));
    std::size_t paused = 0;
    REQUIRE(eventually([&] {
      const std::size_t before = std::exchange(paused, from.written);
      std::this_thread::sleep_for(100ms);
      return before == from.written;
    }));
    CHECK(paused < 12'000'000);  // what the system's own buffers take, and one piece above the mark
    const response r = read_response(c);
    CHECK(r.body == std::string(20'000'000, 'p'));
    CHECK(from.result == base::ok);
  }
}

TEST_CASE("back-pressure: a peer that takes nothing for too long is let go") {
  http::limits l;
  l.write_timeout = 200ms;
  source from;
  running_server s([&](http::exchange& e) { from.start(e, 50'000'000, 50'000); }, l);
  client c(s.port(), 4096);
  c.send(request("GET", "/"));
  CHECK(eventually([&] { return from.result == base::closed; }));
  CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
}

TEST_CASE("back-pressure: a peer that takes a little now and then is kept") {
  http::limits l;
  l.write_timeout = 400ms;
  source from;
  running_server s([&](http::exchange& e) { from.start(e, 8'000'000, 50'000); }, l);
  client c(s.port(), 4096);
  c.send(request("GET", "/"));
  c.until("\r\n\r\n");
  for (int i = 0; i < 20; ++i) {
    REQUIRE(c.exactly(100'000).size() == 100'000);
    std::this_thread::sleep_for(50ms);
  }
  CHECK(from.result != base::closed);
  c.close();
  CHECK(eventually([&] { return from.result != 1000; }));
}

TEST_CASE("back-pressure: nobody waiting, a full queue refuses and keeps nothing") {
  std::atomic<int> result{1000};
  running_server s([&](http::exchange& e) {
    e.begin(200, {}, -1);
    const std::string piece(20'000, 'x');
    int taken = 0;
    while (e.write(piece, nullptr, nullptr) == base::ok) ++taken;
    result = taken;
    e.finish();
  });
  client c(s.port());
  c.send(request("GET", "/"));
  CHECK(read_response(c).body.size() == 80'000);
  CHECK(eventually([&] { return result == 4; }));  // the first that reaches 64 KiB is the last
}

TEST_CASE("back-pressure: a body that nobody reads stays with the client") {
  std::atomic<http::exchange*> held{nullptr};
  struct sink {
    http::exchange* e;
    std::string_view piece;
    std::size_t got = 0;
    void next() {
      base::status st;
      while ((st = e->read(0, &piece, done, this)) == base::ready) {
        if (piece.empty()) return end();
        got += piece.size();
      }
    }
    static void done(void* self, base::status) {
      auto* me = static_cast<sink*>(self);
      if (me->piece.empty()) return me->end();
      me->got += me->piece.size();
      me->next();
    }
    void end() { http::answer(*e, 200, "text/plain", std::to_string(got)); }
  } to{};
  running_server s([&](http::exchange& e) { held = &e; });
  client c(s.port());
  const std::string body(30'000'000, 'b');
  c.send(request("POST", "/", "Content-Length: 30000000\r\n"));
  std::size_t sent = 0;
  for (int quiet = 0; quiet < 5; ++quiet) {
    const std::size_t now = c.send_some(std::string_view(body).substr(sent));
    sent += now;
    if (now > 0) quiet = 0;
    std::this_thread::sleep_for(20ms);
  }
  CHECK(sent < 12'000'000);
  CHECK(s.server().stats().bytes_in < 64 * 1024);
  s.on_loop(0, [&] {
    to.e = held;
    to.next();
  });
  c.send(std::string_view(body).substr(sent));
  CHECK(read_response(c).body == "30000000");
}

TEST_CASE("back-pressure: what is sent ahead is taken in only so far") {
  std::atomic<http::exchange*> held{nullptr};
  running_server s([&](http::exchange& e) {
    if (e.head().path == "/hold")
      held = &e;
    else
      http::answer(e, 200, "text/plain", "x");
  });
  client c(s.port());
  c.send(request("GET", "/hold"));
  REQUIRE(eventually([&] { return held != nullptr; }));
  std::string ahead;
  for (int i = 0; i < 4'000; ++i) ahead += request("GET", "/a");
  const std::size_t sent = c.send_some(ahead);
  std::this_thread::sleep_for(100ms);
  CHECK(s.server().stats().bytes_in < 64 * 1024);
  s.on_loop(0, [&] { http::answer(*held.load(), 200, "text/plain", "x"); });
  std::thread rest([&] { c.send(std::string_view(ahead).substr(sent)); });
  for (int i = 0; i < 4'001; ++i) REQUIRE(read_response(c).status == 200);
  rest.join();
}
