// Bodies passed on between a real exchange and a call, the way a proxy does it.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "proxy_bench.hpp"

using namespace proxy_bench;

TEST_CASE("bodies pass through whole in both directions, with the bytes counted") {
  for (bool chunked : {false, true}) {
    server s(echo_body);
    proxy x(s.url(), chunked);
    std::string body(3'000'000, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 + i / 977);
    std::string got;
    {
      visitor v(x.port, [&](peer& p) {
        std::thread writer([&] {
          p.write("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        });
        p.read_head();
        got = p.read_exactly(body.size());
        writer.join();
      });
      CHECK(x.l.until([&] { return v.over.load(); }));
    }
    REQUIRE(x.passages.size() == 1);
    passage& p = x.passages.front();
    CHECK((got == body));
    CHECK(p.up_status == base::ok);
    CHECK(p.down_status == base::ok);
    CHECK(p.up.bytes == 3'000'000);
    CHECK(p.down.bytes == 3'000'000);
    CHECK(x.l.client->stats().connections_idle == 1);
  }
}

TEST_CASE("a request without a body passes at once") {
  server s(echo_body);
  proxy x(s.url());
  std::string got;
  {
    visitor v(x.port, [&](peer& p) {
      p.write("DELETE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
      got = p.read_until("never");
    });
    CHECK(x.l.until([&] { return v.over.load(); }));
  }
  CHECK(x.passages.front().up.bytes == 0);
  CHECK(x.passages.front().down_status == base::ok);
}

TEST_CASE("while the client takes nothing, the upstream's body waits in the upstream") {
  std::atomic<std::size_t> written{0};
  std::atomic<bool> go_on{false};
  server s([&](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\nContent-Length: 41943040\r\n\r\n");
    const std::string piece(256 * 1024, 'x');
    for (int i = 0; i < 160; ++i) {
      if (!p.write(piece)) return;
      written += piece.size();
    }
  });
  proxy x(s.url());
  std::size_t got = 0;
  visitor v(x.port, [&](peer& p) {
    p.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    while (!go_on) std::this_thread::sleep_for(5ms);
    p.read_head();
    got = p.drain();
  });
  x.l.turn(500ms);
  const std::size_t then = written;
  CHECK(then < 32u << 20);
  go_on = true;
  CHECK(x.l.until([&] { return v.over.load(); }));
  CHECK(got == 41943040);
  CHECK(x.passages.front().down.bytes == 41943040);
}

TEST_CASE("while the upstream takes nothing, the client's body waits in the client") {
  std::atomic<bool> go_on{false};
  std::atomic<std::size_t> sent{0};
  std::atomic<std::size_t> got{0};
  server s([&](peer& p) {
    p.read_head();
    while (!go_on) std::this_thread::sleep_for(5ms);
    got = p.read_exactly(40 << 20).size();
    p.answer("done");
    p.drain();
  });
  proxy x(s.url());
  std::string answer;
  visitor v(x.port, [&](peer& p) {
    p.write("PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 41943040\r\n\r\n");
    const std::string piece(256 * 1024, 'x');
    for (int i = 0; i < 160; ++i) {
      p.write(piece);
      sent += piece.size();
    }
    answer = p.read_until("done");
  });
  x.l.turn(500ms);
  CHECK(sent < 32u << 20);
  go_on = true;
  CHECK(x.l.until([&] { return v.over.load(); }));
  CHECK(got == 40u << 20);
  CHECK(body_of(answer) == "done");
}

TEST_CASE(
    "an upstream that answers before the body was taken ends the pipe with a closed sink, and its answer passes") {
  server s([](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
    std::this_thread::sleep_for(200ms);
  });
  proxy x(s.url());
  std::string answer;
  {
    visitor v(x.port, [&](peer& p) {
      p.write("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 41943040\r\n\r\nonly a little");
      answer = p.read_until("big");
    });
    CHECK(x.l.until([&] { return v.over.load(); }));
  }
  passage& p = x.passages.front();
  CHECK(p.up_status == base::closed);
  CHECK(p.up.source == base::ok);
  CHECK(p.up.sink == base::closed);
  CHECK(answer.rfind("HTTP/1.1 413", 0) == 0);
}

TEST_CASE("a client that goes while its body passes is the source's status") {
  server s([](peer& p) { p.drain(); });
  proxy x(s.url());
  {
    visitor v(x.port, [&](peer& p) {
      p.write("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf");
      std::this_thread::sleep_for(50ms);
    });
    CHECK(x.l.until([&] { return !x.passages.empty() && x.passages.front().over; }));
  }
  passage& p = x.passages.front();
  CHECK(p.up.source == base::closed);
  CHECK(p.up.sink == base::ok);
  CHECK(p.up.bytes == 4);
  CHECK(x.l.client->stats().connections_open == 0);
}

TEST_CASE("a client that goes while the upstream is silent ends the pipe at once, and frees the upstream") {
  server s([](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\n\r\nfirst");
    p.drain();
  });
  proxy x(s.url());
  {
    visitor v(x.port, [&](peer& p) {
      p.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      p.read_until("first");
    });
    const auto before = loop::clock::now();
    CHECK(x.l.until([&] { return !x.passages.empty() && x.passages.front().over; }));
    CHECK(loop::clock::now() - before < 3s);
  }
  passage& p = x.passages.front();
  CHECK(p.down_status == base::closed);
  CHECK(p.down.source == base::ok);
  CHECK(p.down.sink == base::closed);
  CHECK(x.l.client->stats().connections_open == 0);
}

TEST_CASE("an upstream that dies half-way is the source's status, and the client sees an incomplete answer") {
  server s([](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  proxy x(s.url());
  std::string answer;
  {
    visitor v(x.port, [&](peer& p) {
      p.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      answer = p.read_until("never");
    });
    CHECK(x.l.until([&] { return v.over.load(); }));
  }
  passage& p = x.passages.front();
  CHECK(p.down.source == base::closed);
  CHECK(p.down.sink == base::ok);
  CHECK(p.down.bytes == 4);
  CHECK((answer.empty() || body_of(answer).size() <= 4));  // the reset may overtake what was queued
}

TEST_CASE("the total time ends a pipe, whichever side it waits for") {
  server s([](peer& p) {
    const std::string head = p.read_head();
    if (head.rfind("GET", 0) == 0) p.write("HTTP/1.1 200 OK\r\n\r\nfirst");
    p.drain();
  });
  proxy x(s.url());
  x.total = 200ms;
  std::atomic<bool> leave{false};
  visitor put(x.port, [&](peer& p) {
    p.write("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf");
    p.read_until("never");
  });
  CHECK(x.l.until([&] { return put.over.load(); }));
  REQUIRE(x.passages.size() == 1);
  CHECK(x.passages[0].up.source == base::ok);
  CHECK(x.passages[0].up.sink == base::timeout);
  visitor get(x.port, [&](peer& p) {
    p.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    p.read_until("never");
  });
  CHECK(x.l.until([&] { return get.over.load(); }));
  REQUIRE(x.passages.size() == 2);
  CHECK(x.passages[1].down.source == base::timeout);
  CHECK(x.passages[1].down.sink == base::ok);
}

TEST_CASE("cancelling the call ends a pipe with both sides cancelled, and the exchange can still answer") {
  server s([](peer& p) { p.drain(); });
  proxy x(s.url());
  std::string answer;
  visitor v(x.port, [&](peer& p) {
    p.write("PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000\r\n\r\nhalf");
    answer = p.read_until("\"no\"");
  });
  CHECK(x.l.until([&] { return !x.passages.empty() && x.passages.front().up.bytes == 4; }));
  passage& p = x.passages.front();
  x.l.on([&] {
    CHECK(p.call->busy());
    p.call->cancel();
    CHECK(p.up_status == 99);
  });
  CHECK(x.l.until([&] { return v.over.load(); }));
  CHECK(p.up_status == base::cancelled);
  CHECK(p.up.source == base::cancelled);
  CHECK(p.up.sink == base::cancelled);
  CHECK(answer.rfind("HTTP/1.1 502", 0) == 0);
}

TEST_CASE("cancelling what the exchange waits for is the source's status") {
  server s([](peer& p) { p.drain(); });
  proxy x(s.url());
  visitor v(x.port, [&](peer& p) {
    p.write("PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000\r\n\r\nhalf");
    p.read_until("\"no\"");
  });
  CHECK(x.l.until([&] { return !x.passages.empty() && x.passages.front().up.bytes == 4; }));
  passage& p = x.passages.front();
  x.l.on([&] { p.exchange->cancel(); });
  CHECK(x.l.until([&] { return v.over.load(); }));
  CHECK(p.up.source == base::cancelled);
  CHECK(p.up.sink == base::ok);
}

TEST_CASE("a pipe needs a free call and a begun answer") {
  server s([](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\n\r\nfirst");
    p.drain();
  });
  proxy x(s.url());
  x.hold = true;
  visitor v(x.port, [&](peer& p) {
    p.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    p.read_until("first");
  });
  CHECK(x.l.until([&] { return !x.passages.empty() && x.passages.front().head_status == base::ok; }));
  passage& p = x.passages.front();
  x.l.on([&] {
    upstream::pipe_result r;
    outcome o;
    std::string_view chunk;
    p.pipe_down();
    CHECK(p.call->pipe_response(*p.exchange, &r, &outcome::done, &o) == base::state);
    CHECK(p.call->pipe_request(*p.exchange, &r, &outcome::done, &o) == base::state);
    CHECK(p.call->read(0, &chunk, &outcome::done, &o) == base::state);
    CHECK(o.calls == 0);
  });
  CHECK(x.l.until([&] { return p.over; }));
}
