// The websocket client, against scripted servers and against the accepting side of core/http.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>

#include "feed_bench.hpp"

using namespace feed_bench;

TEST_CASE("the handshake asks for what RFC 6455 wants, and what came with the answer is the first message") {
  std::string head;
  server s([&](peer& p) {
    head = agree(p, "Sec-WebSocket-Protocol: b\r\n\r\n" + frame(http::opcode::text, "hello") + "xx");
    p.drain();
  });
  loops l;
  auto own = std::make_unique<feed>(l);
  feed& w = *own;
  const http::field mine[] = {{"X-Mine", "yes"}};
  w.call.headers = mine;
  w.call.protocol = "a, b";
  REQUIRE(w.connect("ws://u:p@" + s.host() + "/ws?clientId=a") == base::ok);
  CHECK(w.ready() == base::ok);
  CHECK(w.ready() == base::ok);
  CHECK(w.receive() == base::ok);
  CHECK(w.message.text);
  CHECK(w.message.bytes == "hello");
  own.reset();
  s.stop();
  for (const char* line : {"GET /ws?clientId=a HTTP/1.1\r\n", "Connection: Upgrade\r\n", "Upgrade: websocket\r\n",
                           "Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Protocol: a, b\r\n", "X-Mine: yes\r\n",
                           "Authorization: Basic dTpw\r\n"})
    CHECK(head.find(line) != std::string::npos);
  CHECK(head.find("Host: " + s.host() + "\r\n") != std::string::npos);
}

TEST_CASE("an answer that does not agree is a breach of the protocol") {
  for (const char* answer :
       {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        "<html>no</html>"}) {
    server s([&](peer& p) {
      p.read_head();
      p.write(answer);
      p.drain();
    });
    loops l;
    feed w(l);
    REQUIRE(w.connect(ws_url(s)) == base::ok);
    CHECK(w.ready() == base::protocol);
    CHECK(w.receive() == base::protocol);
    CHECK(w.send(true, "x") == base::protocol);
    l.on([&] { CHECK(w.ws->shutdown(1000, "") == base::ok); });
    CHECK(w.receive() == base::closed);
  }
}

TEST_CASE("no connection, no answer and an early end each have their own error") {
  std::uint16_t port = 0;
  {
    server gone({});
    port = gone.port();
  }
  loops l;
  {
    feed w(l);
    REQUIRE(w.connect("ws://127.0.0.1:" + std::to_string(port)) == base::ok);
    CHECK(w.ready() == base::unreachable);
  }
  {
    server silent([](peer& p) { p.drain(); });
    feed w(l);
    w.call.connect = 150ms;
    REQUIRE(w.connect(ws_url(silent)) == base::ok);
    CHECK(w.ready() == base::timeout);
  }
  {
    server ends([](peer& p) { p.read_head(); });
    feed w(l);
    REQUIRE(w.connect(ws_url(ends)) == base::ok);
    CHECK(w.ready() == base::closed);
  }
}

TEST_CASE("bad websocket addresses and headers are refused at once") {
  loops l;
  feed w(l);
  for (const char* url : {"http://h/", "wss://h/", "ws://", "ws://h/#f", "ws://h/ "})
    CHECK(w.connect(url) == base::argument);
  for (const char* name : {"Host", "Sec-WebSocket-Key", "upgrade", "a b"}) {
    const http::field bad[] = {{name, "x"}};
    w.call.headers = bad;
    CHECK(w.connect("ws://127.0.0.1:1/") == base::argument);
  }
}

TEST_CASE("nothing is received or sent before the handshake, and cancel ends the wait for it") {
  server s([](peer& p) { p.drain(); });
  loops l;
  feed w(l);
  REQUIRE(w.connect(ws_url(s)) == base::ok);
  CHECK(w.receive() == base::state);
  CHECK(w.send(true, "x") == base::state);
  outcome o;
  l.on([&] {
    CHECK(w.ws->ready(&outcome::done, &o) == base::ok);
    CHECK(w.ws->ready(&outcome::done, &o) == base::state);
    w.ws->cancel();
    CHECK(o.calls == 0);
  });
  l.until([&] { return o.calls > 0; });
  CHECK(o.status == base::cancelled);
  CHECK_FALSE(w.ws->busy());
}

TEST_CASE("messages go to our own server and back, of any size, up to 64 MiB") {
  loops l;
  echo_server e(l);
  feed w(l);
  w.call.options.max_message = 100 << 20;
  REQUIRE(w.connect(e.url()) == base::ok);
  REQUIRE(w.ready() == base::ok);
#if defined(__SANITIZE_THREAD__)
  const std::size_t largest = 8u << 20;  // which is slow enough there
#else
  const std::size_t largest = 64u << 20;
#endif
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{125}, std::size_t{126}, std::size_t{65535},
                           std::size_t{65536}, std::size_t{1} << 20, largest}) {
    std::string m(size, '\0');
    for (std::size_t i = 0; i < size; ++i) m[i] = static_cast<char>(i * 131 + (i >> 11));
    outcome sent;
    base::status s = 99;
    l.on([&] { s = w.ws->send(false, m, &outcome::done, &sent); });
    REQUIRE(s >= base::ok);
    REQUIRE(w.receive() == base::ok);
    CHECK_FALSE(w.message.text);
    CHECK((w.message.bytes == m));
    if (s == base::ok) CHECK(sent.status == base::ok);
  }
  l.on([&] { REQUIRE(w.ws->shutdown(1000, "enough") == base::ok); });
  CHECK(w.receive() == base::closed);
  CHECK(w.message.close_code == 1000);
  CHECK(e.end == base::closed);
  CHECK(e.code == 1000);
}

TEST_CASE("a subprotocol is echoed when it was offered, and left out when it was not") {
  loops l;
  echo_server e(l);
  e.options.protocol = "chat";
  for (const char* offered : {"chat", "x, chat", "other", ""}) {
    feed w(l);
    w.call.protocol = offered;
    REQUIRE(w.connect(e.url()) == base::ok);
    CHECK(w.ready() == base::ok);
    l.on([&] { w.ws.reset(); });
    REQUIRE(l.until([&] { return !e.ws; }));
  }
}

TEST_CASE("a plain request to a websocket's address is left to its handler") {
  loops l;
  echo_server e(l);
  fetch f(l);
  CHECK(f.get("http://127.0.0.1:" + std::to_string(e.port) + "/echo").status == 426);
  CHECK(e.refused == base::protocol);
}

TEST_CASE("after shutdown, closed comes when the server has ended its side: a new connection meets no old one") {
  std::atomic<int> open{0}, most{0};
  server s([&](peer& p) {
    agree(p);
    most = std::max(most.load(), ++open);
    http::opcode code{};
    do read_frame(p, &code);
    while (code != http::opcode::close);
    p.write(frame(http::opcode::text, "last words") + frame(http::opcode::close, std::string("\x03\xe8", 2)));
    std::this_thread::sleep_for(100ms);  // the handler's own ending
    --open;
  });
  loops l;
  for (int i = 0; i < 3; ++i) {
    feed w(l);
    REQUIRE(w.connect(ws_url(s)) == base::ok);
    REQUIRE(w.ready() == base::ok);
    l.on([&] {
      CHECK(w.ws->shutdown(1000, "") == base::ok);
      CHECK(w.ws->shutdown(1000, "") == base::state);
    });
    CHECK(w.receive() == base::ok);
    CHECK(w.message.bytes == "last words");
    CHECK(w.receive() == base::closed);
    CHECK(w.message.close_code == 1000);
  }
  CHECK(most == 1);
}

TEST_CASE("a server that never finishes the closing handshake is cut") {
  server s([](peer& p) {
    agree(p);
    p.drain();
  });
  loops l;
  feed w(l);
  w.call.options.close_wait = 150ms;
  REQUIRE(w.connect(ws_url(s)) == base::ok);
  REQUIRE(w.ready() == base::ok);
  l.on([&] { w.ws->shutdown(1000, ""); });
  const auto before = loop::clock::now();
  CHECK(w.receive() == base::closed);
  CHECK(w.message.close_code == 1006);
  CHECK(loop::clock::now() - before >= 140ms);
}

TEST_CASE("a server that answers no ping is a timeout, one that answers is not") {
  server s([](peer& p) {
    const bool mute = agree(p).find("GET /mute") != std::string::npos;
    http::opcode code{};
    while (true) {
      const std::string payload = read_frame(p, &code);
      if (payload == "end") return;
      if (code == http::opcode::ping && !mute) p.write(frame(http::opcode::pong, payload));
      if (code == http::opcode::close) return;
    }
  });
  loops l;
  {
    feed w(l);
    w.call.options.ping = 60ms;
    REQUIRE(w.connect("ws://" + s.host() + "/mute") == base::ok);
    REQUIRE(w.ready() == base::ok);
    const auto before = loop::clock::now();
    CHECK(w.receive() == base::timeout);
    CHECK(loop::clock::now() - before >= 170ms);
    l.on([&] { CHECK(w.ws->shutdown(1000, "") == base::ok); });
    CHECK(w.receive() == base::closed);
  }
  feed w(l);
  w.call.options.ping = 60ms;
  REQUIRE(w.connect("ws://" + s.host() + "/") == base::ok);
  REQUIRE(w.ready() == base::ok);
  outcome o;
  l.on([&] { w.ws->receive(&w.message, &outcome::done, &o); });
  l.turn(500ms);
  CHECK(o.calls == 0);
  l.on([&] { w.ws->cancel(); });
  l.until([&] { return o.calls > 0; });
}

TEST_CASE("a server that masks, or says nonsense, is told so with 1002") {
  std::string close;
  server s([&](peer& p) {
    agree(p);
    p.write(std::string("\x81\x81\x01\x02\x03\x04x", 7));
    http::opcode code{};
    close = read_frame(p, &code);
  });
  loops l;
  {
    feed w(l);
    REQUIRE(w.connect(ws_url(s)) == base::ok);
    REQUIRE(w.ready() == base::ok);
    CHECK(w.receive() == base::protocol);
  }
  s.stop();
  CHECK(close.substr(0, 2) == "\x03\xea");
}

TEST_CASE("a client that ends tells its websockets that they are closed") {
  server s([](peer& p) {
    agree(p);
    p.drain();
  });
  loops l;
  feed w(l);
  REQUIRE(w.connect(ws_url(s)) == base::ok);
  REQUIRE(w.ready() == base::ok);
  outcome o;
  l.on([&] { w.ws->receive(&w.message, &outcome::done, &o); });
  l.on([&] { l.client.reset(); });
  CHECK(o.status == base::closed);
}
