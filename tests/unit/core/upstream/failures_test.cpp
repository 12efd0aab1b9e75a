// What can go wrong with a server, and what a call says then.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "bench.hpp"
#include "scripted_server.hpp"

using namespace bench;
using scripted::peer;
using scripted::server;

namespace {

// The error of a GET to a server that answers with these bytes and closes, or stays.
base::status error_of(const std::string& bytes, bool stays = false) {
  server s([&](peer& p) {
    p.read_head();
    p.write(bytes);
    if (stays) p.drain();
  });
  loops l;
  fetch f(l);
  return f.get(s.url()).error;
}

std::int64_t ms_since(loop::clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(loop::clock::now() - t).count();
}

}  // namespace

TEST_CASE("a refused connection is unreachable, at once") {
  std::uint16_t port = 0;
  {
    server s({});
    port = s.port();
  }
  loops l;
  fetch f(l);
  const auto before = loop::clock::now();
  CHECK(f.get("http://127.0.0.1:" + std::to_string(port) + "/").error == base::unreachable);
  CHECK(ms_since(before) < 2000);
  fetch post(l);
  post.options.content_length = 5;
  post.body = {"hello"};
  CHECK(post.run("POST", "http://127.0.0.1:" + std::to_string(port) + "/").error == base::unreachable);
}

TEST_CASE("a name that does not exist is unreachable") {
  loops l;
  fetch f(l);
  // A label is at most 63 characters, so that no network is asked.
  CHECK(f.get("http://" + std::string(70, 'x') + "/").error == base::unreachable);
}

TEST_CASE("localhost is looked up, and whichever of its addresses answers is used") {
  server s([](peer& p) {
    while (!p.read_head().empty()) p.answer("here");
  });
  loops l;
  fetch a(l), b(l);
  const std::string url = "http://localhost:" + std::to_string(s.port()) + "/";
  CHECK(a.get(url).answer == "here");
  CHECK(b.get(url).answer == "here");
  CHECK(s.connections() == 1);
}

TEST_CASE("a request that the server reads late has its response time from then on") {
  server s([](peer& p) {
    std::this_thread::sleep_for(2s);
    p.read_head();
    p.read_exactly(16 << 20);
    std::this_thread::sleep_for(100ms);
    p.answer("late");
    p.drain();
  });
  upstream::settings one;
  one.url = "http://" + s.host();
  one.response_timeout = 1500ms;
  loops l({one});
  fetch f(l);
  f.options.content_length = 16 << 20;
  f.body.assign(16, std::string(1 << 20, 'x'));
  CHECK(f.run("PUT", s.url()).answer == "late");
}

TEST_CASE("a black hole is unreachable when the connect time-out has passed") {
  // A full backlog: the system drops what would connect.
  server s({}, 0);
  std::vector<int> fill;
  for (int i = 0; i < 4; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(s.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)!::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to);
    fill.push_back(fd);
  }
  loops l;
  fetch f(l);
  f.options.connect = 200ms;
  const auto before = loop::clock::now();
  CHECK(f.get(s.url()).error == base::unreachable);
  CHECK(ms_since(before) >= 190);
  CHECK(ms_since(before) < 3000);
  for (int fd : fill) ::close(fd);
}

TEST_CASE("a head that does not come is a timeout after the upstream's response time") {
  server s([](peer& p) { p.drain(); });
  upstream::settings one;
  one.url = "http://" + s.host();
  one.response_timeout = 150ms;
  loops l({one});
  fetch f(l);
  const auto before = loop::clock::now();
  CHECK(f.get(s.url()).error == base::timeout);
  CHECK(ms_since(before) >= 140);
  CHECK(ms_since(before) < 3000);
  CHECK(l.client->stats().connections_open == 0);
}

TEST_CASE("a head that comes byte by byte does not put off its deadline") {
  server s([](peer& p) {
    p.read_head();
    for (char c : std::string("HTTP/1.1 200 OK\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")) {
      if (!p.write({&c, 1})) return;
      std::this_thread::sleep_for(20ms);
    }
  });
  loops l;
  fetch f(l);
  f.options.idle = 200ms;
  const auto before = loop::clock::now();
  CHECK(f.get(s.url()).error == base::timeout);
  CHECK(ms_since(before) < 1000);
}

TEST_CASE("a slow head within the time is waited for, in pieces of one byte") {
  server s([](peer& p) {
    p.read_head();
    for (char c : std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")) {
      p.write({&c, 1});
      std::this_thread::sleep_for(1ms);
    }
    p.drain();
  });
  loops l;
  fetch f(l);
  CHECK(f.get(s.url()).answer == "hello");
  CHECK(l.client->stats().connections_idle == 1);
}

TEST_CASE("a body that stops is a timeout after the idle time, and slow bytes put it off") {
  server s([](peer& p) {
    const bool slow = p.read_head().find("/slow") != std::string::npos;
    p.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < (slow ? 10 : 3); ++i) {
      p.write("x");
      std::this_thread::sleep_for(50ms);
    }
    p.drain();
  });
  loops l;
  fetch slow(l), stuck(l);
  slow.options.idle = stuck.options.idle = 250ms;
  CHECK(slow.get(s.url("/slow")).answer == "xxxxxxxxxx");
  CHECK(stuck.get(s.url("/stuck")).error == base::timeout);
  CHECK(stuck.answer == "xxx");
}

TEST_CASE("the time in which nobody reads is not held against the server") {
  server s([](peer& p) {
    p.read_head();
    p.answer(std::string(5'000'000, 'x'));
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
    options.idle = 600ms;
    l.client->open(options, &call);
    call->head(&head, &outcome::done, &o);
  });
  l.until([&] { return o.calls > 0; });
  l.turn(1500ms);
  std::string_view chunk;
  outcome r;
  base::status st = 99;
  l.on([&] { st = call->read(0, &chunk, &outcome::done, &r); });
  CHECK(st >= base::ok);
  l.on([&] { call.reset(); });
}

TEST_CASE("the total time ends a call whatever it is doing") {
  server s([](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\n\r\n");
    while (p.write("x")) std::this_thread::sleep_for(10ms);
  });
  loops l;
  fetch f(l);
  f.options.total = 200ms;
  const auto before = loop::clock::now();
  CHECK(f.get(s.url()).error == base::timeout);
  CHECK(ms_since(before) < 2000);
  CHECK(f.status == 200);
}

TEST_CASE("a server that does not take the body is a timeout") {
  server s([](peer& p) {
    p.small_receive_buffer();
    std::this_thread::sleep_for(600ms);
  });
  loops l;
  fetch f(l);
  f.options.idle = 150ms;
  f.options.content_length = 24 << 20;
  f.body.assign(24, std::string(1 << 20, 'x'));
  CHECK(f.run("PUT", s.url()).error == base::timeout);
}

TEST_CASE("an answer that ends half-way is closed") {
  CHECK(error_of("") == base::closed);
  CHECK(error_of("HTTP/1.1 200 O") == base::closed);
  CHECK(error_of("HTTP/1.1 200 OK\r\nContent-Le") == base::closed);
  CHECK(error_of("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345") == base::closed);
  CHECK(error_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel") == base::closed);
  CHECK(error_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n") == base::closed);
}

TEST_CASE("a connection that is reset is closed") {
  server s([](peer& p) {
    p.read_head();
    p.reset();
  });
  loops l;
  fetch f(l);
  CHECK(f.get(s.url()).error == base::closed);
}

TEST_CASE("what is not HTTP is a breach of the protocol, as soon as that is certain") {
  CHECK(error_of("<html><body>hello</body></html>", true) == base::protocol);
  CHECK(error_of("SSH-2.0-OpenSSH_9.2\r\n", true) == base::protocol);
  CHECK(error_of(std::string("\x15\x03\x01\x00\x02\x02\x46", 7), true) == base::protocol);
  CHECK(error_of("HTTP/2 200\r\n\r\n", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 200 OK\nContent-Length: 0\n\n", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 OK\r\n\r\n", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 200 OK\r\nbad header\r\n\r\n", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", true) == base::protocol);
  CHECK(error_of("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", true) == base::protocol);
}

TEST_CASE("malformed chunks are a breach of the protocol") {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(error_of(head + "zz\r\nhello\r\n0\r\n\r\n", true) == base::protocol);
  CHECK(error_of(head + "5\r\nhello!\r\n0\r\n\r\n", true) == base::protocol);
  CHECK(error_of(head + "5\nhello\r\n0\r\n\r\n", true) == base::protocol);
  CHECK(error_of(head + "-5\r\nhello\r\n0\r\n\r\n", true) == base::protocol);
  CHECK(error_of(head + "ffffffffffffffff\r\nhello", true) == base::protocol);
}

TEST_CASE("a head over the limits is a breach of the protocol, however much more would come") {
  CHECK(error_of("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", true) == base::protocol);
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 200; ++i) many += "X: y\r\n";
  CHECK(error_of(many + "\r\n", true) == base::protocol);
  std::string interim;
  for (int i = 0; i < 50; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  CHECK(error_of(interim, true) == base::protocol);
}

TEST_CASE("bytes behind an answer do not become the next one") {
  server s([](peer& p) {
    p.read_head();
    p.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    p.read_head();
    p.answer("never");
  });
  loops l;
  fetch a(l), b(l);
  CHECK(a.get(s.url()).answer == "ok");
  CHECK(l.client->stats().connections_idle == 0);
}

TEST_CASE("bytes that come on an idle connection end it") {
  server s([](peer& p) {
    p.read_head();
    p.answer("ok");
    std::this_thread::sleep_for(50ms);
    p.write("HTTP/1.1 408 Request Timeout\r\n\r\n");
    p.drain();
  });
  loops l;
  CHECK(fetch(l).get(s.url()).error == base::ok);
  CHECK(l.client->stats().connections_idle == 1);
  CHECK(l.until([&] { return l.client->stats().connections_idle == 0; }));
}

TEST_CASE("an answer before the body was taken ends the writing, and its head can be read") {
  for (bool resets : {false, true}) {
    server s([&](peer& p) {
      p.read_head();
      p.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
      if (resets) {
        std::this_thread::sleep_for(100ms);
        return;  // closes with most of the body unread: the client sees a reset
      }
      std::this_thread::sleep_for(300ms);
    });
    loops l;
    fetch f(l);
    f.options.content_length = 24 << 20;
    f.body.assign(24, std::string(1 << 20, 'x'));
    f.run("PUT", s.url());
    CHECK(f.body_refused);
    CHECK(f.error == base::ok);
    CHECK(f.status == 413);
    CHECK(f.answer == "big");
    CHECK(l.client->stats().connections_idle == 0);
  }
}

TEST_CASE("cancel completes what is pending, later, and the connection is closed") {
  server s([](peer& p) { p.drain(); });
  loops l;
  std::unique_ptr<upstream::call> call;
  const upstream::answer_head* head = nullptr;
  outcome o, w;
  const std::string url = s.url();
  l.on([&] {
    upstream::call_options options;
    options.method = "PUT";
    options.url = url;
    options.content_length = 10 << 20;
    l.client->open(options, &call);
    CHECK(call->write(std::string(1 << 20, 'x'), &outcome::done, &w) == base::ok);
    CHECK(call->head(&head, &outcome::done, &o) == base::ok);
    CHECK(call->busy());
    call->cancel();
    CHECK(o.calls + w.calls == 0);
  });
  l.until([&] { return o.calls > 0 && w.calls > 0; });
  CHECK(o.status == base::cancelled);
  CHECK(w.status == base::cancelled);
  l.on([&] {
    CHECK_FALSE(call->busy());
    CHECK(call->write("x", &outcome::done, &w) == base::cancelled);
    call.reset();
  });
}

TEST_CASE("after stop nothing waits any more") {
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
    call->stop();
    CHECK(call->head(&head, &outcome::done, &o) == base::cancelled);
    call.reset();
  });
  CHECK(o.calls == 0);
}
