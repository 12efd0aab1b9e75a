#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "bench.hpp"
#include "scripted_server.hpp"

using namespace bench;
using scripted::peer;
using scripted::server;

namespace {

// Answers every request of a connection with its own head as the body.
void echo_heads(peer& p) {
  while (true) {
    const std::string head = p.read_head();
    if (head.find("\r\n\r\n") == std::string::npos) return;
    p.answer(head);
  }
}

upstream::settings named(const server& s) {
  upstream::settings one;
  one.name = "test";
  one.url = "http://" + s.host();
  return one;
}

}  // namespace

TEST_CASE("a GET is sent with Host and the caller's headers, and its answer is read to the end") {
  server s(echo_heads);
  loops l;
  fetch f(l);
  const http::field mine[] = {{"X-Mine", "yes"}, {"Accept", "*/*"}};
  f.options.headers = mine;
  f.get(s.url("/path?q=1"));
  CHECK(f.error == base::ok);
  CHECK(f.status == 200);
  CHECK(f.answer == "GET /path?q=1 HTTP/1.1\r\nHost: " + s.host() + "\r\nX-Mine: yes\r\nAccept: */*\r\n\r\n");
  CHECK(f.length == static_cast<std::int64_t>(f.answer.size()));
}

TEST_CASE("user info becomes Basic auth, unless the caller has its own") {
  server s(echo_heads);
  loops l;
  fetch a(l);
  CHECK(a.get("http://u:p@" + s.host() + "/").answer.find("Authorization: Basic dTpw\r\n") != std::string::npos);
  fetch b(l);
  const http::field own[] = {{"authorization", "Bearer t"}};
  b.options.headers = own;
  b.get("http://u:p@" + s.host() + "/");
  CHECK(b.answer.find("Basic") == std::string::npos);
  CHECK(b.answer.find("authorization: Bearer t\r\n") != std::string::npos);
}

TEST_CASE("Host says an IPv6 address in brackets") {
  std::unique_ptr<server> s;
  try {
    s = std::make_unique<server>(echo_heads, 64, true);
  } catch (const std::exception&) {
    WARN("this system has no ::1");
    return;
  }
  loops l;
  fetch f(l);
  const std::string host = "[::1]:" + std::to_string(s->port());
  CHECK(f.get("http://" + host + "/").answer.find("Host: " + host + "\r\n") != std::string::npos);
}

TEST_CASE("a connection is kept and used again, and the counters say so") {
  server s(echo_heads);
  loops l;
  for (int i = 0; i < 5; ++i) CHECK(fetch(l).get(s.url()).error == base::ok);
  CHECK(s.connections() == 1);
  const upstream::statistics n = l.client->stats();
  CHECK(n.calls == 5);
  CHECK(n.connections_opened == 1);
  CHECK(n.connections_reused == 4);
  CHECK(n.connections_open == 1);
  CHECK(n.connections_idle == 1);
  CHECK(n.failures == 0);
}

TEST_CASE("framing of every kind is taken off, and the connection kept where that is sound") {
  server s([](peer& p) {
    while (true) {
      const std::string head = p.read_head();
      if (head.empty()) return;
      if (head.find("/chunked") != std::string::npos)
        p.write(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer-Field: "
            "t\r\n\r\n");
      else if (head.find("/none") != std::string::npos)
        p.write("HTTP/1.1 204 No Content\r\n\r\n");
      else if (head.find("/same") != std::string::npos)
        p.write("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n");
      else if (head.rfind("HEAD", 0) == 0)
        p.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
      else if (head.find("/interim") != std::string::npos)
        p.write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      else if (head.find("/close") != std::string::npos) {
        p.write("HTTP/1.1 200 OK\r\n\r\nuntil the end");
        return;
      } else
        p.write("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold");
    }
  });
  loops l;
  fetch chunked(l), none(l), same(l), head(l), interim(l), close(l), old(l);
  CHECK(chunked.get(s.url("/chunked")).answer == "hello world");
  CHECK(chunked.length == -1);
  CHECK(chunked.headers.empty());
  CHECK(none.get(s.url("/none")).status == 204);
  CHECK(none.error == base::ok);
  CHECK(none.length == 0);
  CHECK(same.get(s.url("/same")).status == 304);
  CHECK(same.error == base::ok);
  CHECK(head.run("HEAD", s.url("/")).length == 5);
  CHECK(head.answer.empty());
  CHECK(interim.get(s.url("/interim")).answer == "ok");
  CHECK(interim.status == 200);
  CHECK(s.connections() == 1);
  CHECK(close.get(s.url("/close")).answer == "until the end");
  CHECK(close.error == base::ok);
  CHECK(l.client->stats().connections_idle == 0);
  CHECK(old.get(s.url("/old")).answer == "old");
  CHECK(l.client->stats().connections_idle == 0);
}

TEST_CASE("headers of the connection are not handed on") {
  server s([](peer& p) {
    p.read_head();
    p.answer("x",
             "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-End: 2\r\nContent-Type: "
             "text/plain\r\n");
    p.drain();
  });
  loops l;
  fetch f(l);
  f.get(s.url());
  using list = std::vector<std::pair<std::string, std::string>>;
  CHECK(f.headers == list{{"x-end", "2"}, {"content-type", "text/plain"}});
}

TEST_CASE("a body of known length and one in chunks arrive whole") {
  server s([](peer& p) {
    for (int i = 0; i < 2; ++i) {
      const std::string head = p.read_head();
      std::string body;
      if (head.find("Content-Length: 10\r\n") != std::string::npos) body = p.read_exactly(10);
      if (head.find("Transfer-Encoding: chunked\r\n") != std::string::npos) body = p.read_until("0\r\n\r\n");
      p.answer(body);
    }
  });
  loops l;
  fetch a(l), b(l);
  a.options.content_length = 10;
  a.body = {"01234", "", "56789"};
  CHECK(a.run("POST", s.url()).answer == "0123456789");
  b.options.content_length = -1;
  b.body = {"hello", " world, this is me"};
  CHECK(b.run("POST", s.url()).answer == "5\r\nhello\r\n12\r\n world, this is me\r\n0\r\n\r\n");
  CHECK(s.connections() == 1);
}

TEST_CASE("POST without a body says so") {
  server s(echo_heads);
  loops l;
  fetch a(l);
  CHECK(a.run("POST", s.url()).answer.find("Content-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("a kept connection that the server closed is not used for a call") {
  server s([](peer& p) {
    p.read_head();
    p.answer("once");
  });
  loops l;
  CHECK(fetch(l).get(s.url()).error == base::ok);
  CHECK(l.until([&] { return l.client->stats().connections_idle == 0; }));
  CHECK(l.client->stats().connections_open == 0);
  fetch b(l);
  CHECK(b.run("POST", s.url()).error == base::ok);
  CHECK(s.connections() == 2);
}

TEST_CASE("a safe call on a kept connection that turns out dead is repeated once on a new one") {
  server s([](peer& p) {
    p.read_head();
    p.answer("first");
    if (p.index() == 0) p.read_head();  // takes the second request, and dies without an answer
  });
  loops l;
  CHECK(fetch(l).get(s.url()).error == base::ok);
  fetch b(l);
  CHECK(b.get(s.url()).error == base::ok);
  CHECK(b.answer == "first");
  CHECK(s.connections() == 2);
}

TEST_CASE("a call is not repeated when it is unsafe, when something was answered, or on a new connection") {
  server s([](peer& p) {
    if (p.index() == 2) {  // new, and dies at once
      p.read_head();
      return;
    }
    p.read_head();
    p.answer("first");
    const std::string second = p.read_head();
    if (p.index() == 1) p.write("HTTP/1.1 2");
  });
  loops l;
  CHECK(fetch(l).get(s.url()).error == base::ok);
  fetch post(l);
  CHECK(post.run("POST", s.url()).error == base::closed);
  CHECK(s.connections() == 1);
  CHECK(fetch(l).get(s.url()).error == base::ok);
  fetch part(l);
  CHECK(part.get(s.url()).error == base::closed);
  CHECK(s.connections() == 2);
  fetch fresh(l);
  CHECK(fresh.get(s.url()).error == base::closed);
  CHECK(s.connections() == 3);
  CHECK(l.client->stats().failures == 3);
}

TEST_CASE("idle connections are at most max_idle, and are closed after keep_idle") {
  server s([](peer& p) {
    const std::string head = p.read_head();
    std::this_thread::sleep_for(200ms);  // so that all are under way at once
    p.answer(head);
    p.drain();
  });
  upstream::settings one = named(s);
  one.max_idle = 2;
  one.keep_idle = 100ms;
  loops l({one});
  std::vector<std::unique_ptr<fetch>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<fetch>(l));
    all.back()->start("GET", s.url());
  }
  CHECK(l.until([&] { return std::all_of(all.begin(), all.end(), [](auto& f) { return f->over; }); }));
  CHECK(s.connections() == 4);
  CHECK(l.client->stats().connections_idle == 2);
  CHECK(l.client->stats().connections_open == 2);
  CHECK(l.until([&] { return l.client->stats().connections_idle == 0; }));
  CHECK(l.client->stats().connections_open == 0);
}

TEST_CASE("a call that is given back before its answer was read closes its connection, unless the rest is here") {
  server s([](peer& p) {
    const bool big = p.read_head().find("/big") != std::string::npos;
    p.answer(std::string(big ? 10'000'000 : 10, 'x'));
    p.drain();
  });
  loops l;
  for (const char* path : {"/big", "/small"}) {
    std::unique_ptr<upstream::call> call;
    const upstream::answer_head* head = nullptr;
    outcome o;
    const std::string url = s.url(path);
    l.on([&] {
      upstream::call_options options;
      options.method = "GET";
      options.url = url;
      REQUIRE(l.client->open(options, &call) == base::ok);
      REQUIRE(call->head(&head, &outcome::done, &o) == base::ok);
      CHECK(call->head(&head, &outcome::done, &o) == base::state);
    });
    l.until([&] { return o.calls > 0; });
    CHECK(o.status == base::ok);
    CHECK(head->status == 200);
    l.on([&] { call.reset(); });
    CHECK(l.client->stats().connections_idle == (url.find("small") == url.npos ? 0u : 1u));
  }
}

TEST_CASE("a large answer is read in pieces of at most what was asked for, while nobody reads nothing is taken") {
  std::atomic<std::size_t> written{0};
  server s([&](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n");
    const std::string piece(64 * 1024, 'x');
    for (int i = 0; i < 512; ++i) {
      p.write(piece);
      written += piece.size();
    }
    p.drain();
  });
  loops l;
  std::unique_ptr<upstream::call> call;
  const upstream::answer_head* head = nullptr;
  outcome o;
  const std::string url = s.url();
  l.on([&] {
    upstream::call_options options;
    options.method = "GET";
    options.url = url;
    l.client->open(options, &call);
    call->head(&head, &outcome::done, &o);
  });
  l.until([&] { return o.calls > 0; });
  l.turn(300ms);
  CHECK(written < 16u << 20);  // what two socket buffers hold, not the body
  std::size_t all = 0, largest = 0;
  bool over = false;
  while (!over) {
    std::string_view chunk;
    outcome r;
    l.on([&] {
      base::status st = base::ready;
      while ((st = call->read(1000, &chunk, &outcome::done, &r)) == base::ready && !chunk.empty())
        all += chunk.size(), largest = std::max(largest, chunk.size());
      if (st != base::ok) over = true;
    });
    if (over) break;
    REQUIRE(l.until([&] { return r.calls > 0; }));
    REQUIRE(r.status == base::ok);
    all += chunk.size(), largest = std::max(largest, chunk.size());
    over = chunk.empty();
  }
  CHECK(all == 33554432);
  CHECK(largest == 1000);
  l.on([&] { call.reset(); });
  CHECK(l.client->stats().connections_idle == 1);
}

TEST_CASE("bad URLs, methods, headers and lengths are refused at once") {
  loops l;
  const std::string good = "http://127.0.0.1:1/";
  const auto open = [&](std::string_view method, std::string_view url, std::vector<http::field> headers = {},
                        std::int64_t length = 0) {
    base::status s = 99;
    l.on([&] {
      upstream::call_options o;
      o.method = method;
      o.url = url;
      o.headers = headers;
      o.content_length = length;
      std::unique_ptr<upstream::call> call;
      s = l.client->open(o, &call);
    });
    return s;
  };
  CHECK(open("GET", good) == base::ok);
  CHECK(open("GET", "https://127.0.0.1/") == base::argument);
  CHECK(open("GET", "127.0.0.1") == base::argument);
  CHECK(open("get", good) == base::argument);
  CHECK(open("", good) == base::argument);
  CHECK(open("CONNECT", good) == base::argument);
  CHECK(open("G T", good) == base::argument);
  CHECK(open("GET", good, {}, -2) == base::argument);
  for (const char* name :
       {"Host", "content-length", "Transfer-Encoding", "connection", "Upgrade", "Expect", "a b", "", "x:"})
    CHECK(open("GET", good, {{name, "v"}}) == base::argument);
  CHECK(open("GET", good, {{"x", "a\r\nInjected: b"}}) == base::argument);
  CHECK(open("GET", good, {{"x", std::string_view("a\0b", 3)}}) == base::argument);
}

TEST_CASE("more body than was promised is the caller's mistake") {
  server s([](peer& p) { p.drain(); });
  loops l;
  l.on([&] {
    const std::string url = s.url();
    upstream::call_options o;
    o.method = "PUT";
    o.url = url;
    o.content_length = 5;
    std::unique_ptr<upstream::call> call;
    outcome w;
    REQUIRE(l.client->open(o, &call) == base::ok);
    CHECK(call->write("123456", &outcome::done, &w) == base::argument);
    CHECK(call->end() == base::state);
    CHECK(call->write("12345", &outcome::done, &w) == base::ready);
    CHECK(call->write("6", &outcome::done, &w) == base::argument);
    CHECK(call->end() == base::ok);
    std::string_view chunk;
    CHECK(call->read(0, &chunk, &outcome::done, &w) == base::state);
    CHECK(w.calls == 0);
  });
}

TEST_CASE("a client that ends tells the calls that are still held") {
  server s([](peer& p) { p.drain(); });
  loops l;
  std::unique_ptr<upstream::call> call;
  const upstream::answer_head* head = nullptr;
  outcome o;
  const std::string url = s.url();
  l.on([&] {
    upstream::call_options options;
    options.method = "GET";
    options.url = url;
    l.client->open(options, &call);
    call->head(&head, &outcome::done, &o);
  });
  l.until([&] { return s.connections() > 0; });
  l.turn(20ms);
  l.on([&] { l.client.reset(); });
  CHECK(o.calls == 1);
  CHECK(o.status == base::closed);
  l.on([&] { call.reset(); });
}
