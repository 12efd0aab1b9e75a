#include <catch2/catch.hpp>
#include <string>

#include "websocket_bench.hpp"

using namespace websocket_bench;

TEST_CASE("a message that is here already is ready at once, one that is not completes later") {
  for (auto role : {websocket_role::server, websocket_role::client}) {
    bench b(role);
    b.far.arrive(b.frame(opcode::text, "one") + b.frame(opcode::binary, "two"));
    REQUIRE(b.receive() == base::ready);
    CHECK(b.message.text);
    CHECK(b.message.bytes == "one");
    REQUIRE(b.receive() == base::ready);
    CHECK_FALSE(b.message.text);
    CHECK(b.message.bytes == "two");
    REQUIRE(b.receive() == base::ok);
    CHECK(b.receive() == base::state);
    CHECK(b.ws->busy());
    CHECK(b.received.calls == 0);
    b.far.arrive(b.frame(opcode::text, "thr", false));
    CHECK(b.received.calls == 0);
    b.far.arrive(b.frame(opcode::continuation, "ee"));
    CHECK(b.received.calls == 1);
    CHECK(b.received.status == base::ok);
    CHECK(b.message.bytes == "three");
  }
}

TEST_CASE("bytes that came with the handshake are the first message") {
  bench b;
  wire far;
  auto ws = make_websocket(std::make_unique<fake_stream>(b.loop, far), websocket_role::server, {},
                           b.frame(opcode::text, "early"));
  websocket_message m;
  outcome o;
  REQUIRE(ws->receive(&m, &outcome::done, &o) == base::ready);
  CHECK(m.bytes == "early");
  ws.reset();
  far.observer->on_lost(base::closed);
}

TEST_CASE("while nobody receives, one message is read ahead and no more is taken") {
  bench b;
  std::string many;
  for (int i = 0; i < 200; ++i) many += b.frame(opcode::binary, std::string(1024, 'x'));
  b.far.arrive(many);
  const std::size_t taken = many.size() - b.far.in.size();
  CHECK(taken <= 64 * 1024);
  for (int i = 0; i < 200; ++i) REQUIRE(b.receive() == base::ready);
  CHECK(b.far.in.empty());
}

TEST_CASE("a ping is answered with its payload, in order") {
  bench b;
  b.far.arrive(b.frame(opcode::ping, "a") + b.frame(opcode::pong, "unasked") +
               b.frame(opcode::ping, std::string(125, 'b')));
  CHECK(b.sent() == lines{"pong a", "pong " + std::string(125, 'b')});
}

TEST_CASE("a peer that sends pings and takes no pongs does not fill the queue") {
  websocket_options o;
  o.high_water = 1000;
  bench b(websocket_role::server, o);
  b.far.takes = false;
  for (int i = 0; i < 1000; ++i) b.far.arrive(b.frame(opcode::ping, std::to_string(i)));
  CHECK(b.far.stuck < 1100);
  b.far.takes = true;
  b.far.take_all();
  CHECK(b.sent().back() == "pong 999");
}

TEST_CASE("a client masks what it sends and a server does not") {
  for (auto role : {websocket_role::server, websocket_role::client}) {
    bench b(role);
    for (std::size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 16u * 1024u - 14u, 100000u}) {
      b.far.sent.clear();
      const std::string payload(size, 'q');
      REQUIRE(b.ws->send(false, payload, &outcome::done, &b.was_sent) == base::ready);
      CHECK(b.sent() == lines{"binary " + payload});
      CHECK((static_cast<unsigned char>(b.far.sent[1]) >= 0x80) == (role == websocket_role::client));
    }
  }
}

TEST_CASE("a send above the high-water mark waits until the queue has fallen") {
  websocket_options o;
  o.high_water = 1000;
  bench b(websocket_role::server, o);
  b.far.takes = false;
  CHECK(b.ws->send(true, std::string(500, 'a'), &outcome::done, &b.was_sent) == base::ready);
  CHECK(b.ws->send(true, std::string(600, 'b'), &outcome::done, &b.was_sent) == base::ok);
  CHECK(b.ws->send(true, "third", &outcome::done, &b.was_sent) == base::state);
  CHECK(b.ws->send(true, "nobody waits", nullptr, nullptr) == base::limit);
  CHECK(b.was_sent.calls == 0);
  b.far.take_all();
  CHECK(b.was_sent.calls == 1);
  CHECK(b.was_sent.status == base::ok);
  CHECK(b.ws->send(true, "nobody waits", nullptr, nullptr) == base::ok);
  CHECK(b.sent().size() == 3);
}

TEST_CASE("what may not be sent is refused and nothing is queued") {
  websocket_options o;
  o.max_message = 10;
  bench b(websocket_role::server, o);
  CHECK(b.ws->send(true, "\xff", &outcome::done, &b.was_sent) == base::argument);
  CHECK(b.ws->send(false, "12345678901", &outcome::done, &b.was_sent) == base::limit);
  CHECK(b.ws->shutdown(1005, "") == base::argument);
  CHECK(b.ws->shutdown(1000, std::string(124, 'r')) == base::argument);
  CHECK(b.far.sent.empty());
}

TEST_CASE("breaches are answered with their close code, told to the receiver, and the connection ends") {
  struct {
    std::string bytes;
    base::status told;
    std::string close;
  } const all[] = {{code(0x8100), base::protocol, "close 1002"},
                   {bench().frame(opcode::text, "\xff"), base::protocol, "close 1007"},
                   {bench().frame(opcode::binary, std::string(200, 'x')), base::limit, "close 1009"}};
  for (const auto& c : all) {
    websocket_options o;
    o.max_message = 100;
    o.close_wait = 30ms;
    bench b(websocket_role::server, o);
    REQUIRE(b.receive() == base::ok);
    b.far.arrive(c.bytes);
    CHECK(b.received.status == c.told);
    REQUIRE(b.sent().size() == 1);
    CHECK(b.sent()[0].rfind(c.close, 0) == 0);
    CHECK(b.far.shut);
    CHECK(b.receive() == c.told);
    CHECK(b.ws->send(true, "x", &outcome::done, &b.was_sent) == c.told);
    b.far.arrive("more of it is dropped");
    b.turn(200ms, [&] { return b.far.destroyed; });
    CHECK(b.far.destroyed);
    CHECK(b.receive() == c.told);
    CHECK(b.ws->shutdown(1000, "") == base::ok);
    CHECK(b.receive() == base::closed);
  }
}

TEST_CASE("the other end's close is answered with its code, and told once the connection has ended") {
  for (auto role : {websocket_role::server, websocket_role::client}) {
    bench b(role);
    b.far.arrive(b.frame(opcode::text, "last") + b.frame(opcode::close, code(4321) + "why"));
    REQUIRE(b.receive() == base::ready);
    CHECK(b.message.bytes == "last");
    REQUIRE(b.receive() == base::ok);
    CHECK(b.sent() == lines{"close 4321 "});
    CHECK(b.ws->send(true, "late", &outcome::done, &b.was_sent) == base::closed);
    CHECK(b.far.shut == (role == websocket_role::server));  // the server ends first
    CHECK(b.received.calls == 0);
    b.far.end();
    CHECK(b.received.calls == 1);
    CHECK(b.received.status == base::closed);
    CHECK(b.message.close_code == 4321);
    CHECK(b.far.destroyed);
    CHECK(b.receive() == base::closed);
    CHECK(b.message.close_code == 4321);
  }
}

TEST_CASE("an end without a close frame is closed with 1006") {
  bench b;
  REQUIRE(b.receive() == base::ok);
  b.far.end();
  CHECK(b.received.status == base::closed);
  CHECK(b.message.close_code == 1006);
  CHECK(b.ws->send(true, "x", &outcome::done, &b.was_sent) == base::closed);
}

TEST_CASE("after shutdown what is under way is still received, and closed comes with the end of the connection") {
  for (auto role : {websocket_role::server, websocket_role::client}) {
    bench b(role);
    REQUIRE(b.ws->send(true, "queued", &outcome::done, &b.was_sent) == base::ready);
    REQUIRE(b.ws->shutdown(1000, "enough") == base::ok);
    CHECK(b.ws->shutdown(1000, "") == base::state);
    CHECK(b.sent() == lines{"text queued", "close 1000 enough"});
    CHECK(b.ws->send(true, "x", &outcome::done, &b.was_sent) == base::closed);
    REQUIRE(b.receive() == base::ok);
    b.far.arrive(b.frame(opcode::text, "under way"));
    CHECK(b.message.bytes == "under way");
    REQUIRE(b.receive() == base::ok);
    b.far.arrive(b.frame(opcode::close, code(1000)));
    CHECK(b.received.calls == 1);
    CHECK_FALSE(b.far.destroyed);
    b.far.end();
    CHECK(b.received.calls == 2);
    CHECK(b.received.status == base::closed);
    CHECK(b.far.destroyed);
    CHECK(b.sent().size() == 2);  // one close frame
  }
}

TEST_CASE("an end that does not finish the closing handshake is cut after close_wait") {
  websocket_options o;
  o.close_wait = 40ms;
  bench b(websocket_role::client, o);
  REQUIRE(b.ws->shutdown(1000, "") == base::ok);
  REQUIRE(b.receive() == base::ok);
  const auto before = loop::clock::now();
  b.turn(1000ms, [&] { return b.received.calls > 0; });
  CHECK(b.received.status == base::closed);
  CHECK(b.far.destroyed);
  CHECK(loop::clock::now() - before >= 35ms);
}

TEST_CASE("a websocket that is given back finishes its close by itself and drops what still comes") {
  bench b;
  REQUIRE(b.ws->send(true, "queued", &outcome::done, &b.was_sent) == base::ready);
  b.ws->close(1000, "bye");
  b.ws.reset();
  CHECK(b.sent() == lines{"text queued", "close 1000 bye"});
  CHECK_FALSE(b.far.destroyed);
  b.far.arrive(b.frame(opcode::binary, std::string(100'000, 'x')) + b.frame(opcode::ping, "p"));
  b.turn();
  CHECK(b.far.in.empty());
  b.far.arrive(b.frame(opcode::close, code(1000)));
  CHECK(b.far.shut);
  b.far.end();
  CHECK(b.far.destroyed);
  CHECK(b.sent().size() == 2);
}

TEST_CASE("one that is only destroyed closes with 1001, and with a bad code with 1000") {
  bench a;
  a.ws.reset();
  CHECK(a.sent() == lines{"close 1001 "});
  bench b;
  b.ws->close(77, std::string(500, 'x'));
  CHECK(b.sent() == lines{"close 1000 "});
}

TEST_CASE("silence brings a ping, and after two without an answer timeout") {
  websocket_options o;
  o.ping = 30ms;
  bench b(websocket_role::client, o);
  REQUIRE(b.receive() == base::ok);
  const auto before = loop::clock::now();
  b.turn(2000ms, [&] { return b.received.calls > 0; });
  const auto took = loop::clock::now() - before;
  CHECK(b.received.status == base::timeout);
  CHECK(b.sent() == lines{"ping ", "ping "});
  CHECK(took >= 80ms);
  CHECK(b.far.destroyed);
  CHECK(b.receive() == base::timeout);
}

TEST_CASE("whatever is heard counts as an answer to the pings") {
  websocket_options o;
  o.ping = 40ms;
  bench b(websocket_role::server, o);
  REQUIRE(b.receive() == base::ok);
  for (int i = 0; i < 8; ++i) {
    b.turn(25ms);
    b.far.arrive(b.frame(opcode::pong, ""));
  }
  CHECK(b.received.calls == 0);
  CHECK(b.sent().size() <= 1);
}

TEST_CASE("while nobody receives, silence is not held against the other end") {
  websocket_options o;
  o.ping = 10ms;
  bench b(websocket_role::server, o);
  b.far.arrive(b.frame(opcode::text, "ahead"));
  b.turn(100ms);
  REQUIRE(b.receive() == base::ready);
  CHECK(b.message.bytes == "ahead");
  CHECK_FALSE(b.far.destroyed);
}

TEST_CASE("cancel completes what is pending, later, and leaves the websocket usable") {
  websocket_options o;
  o.high_water = 10;
  bench b(websocket_role::server, o);
  b.far.takes = false;
  REQUIRE(b.receive() == base::ok);
  REQUIRE(b.ws->send(true, std::string(50, 'x'), &outcome::done, &b.was_sent) == base::ok);
  b.ws->cancel();
  CHECK(b.received.calls == 0);
  CHECK(b.was_sent.calls == 0);
  b.turn();
  CHECK(b.received.status == base::cancelled);
  CHECK(b.was_sent.status == base::cancelled);
  CHECK_FALSE(b.ws->busy());
  b.far.arrive(b.frame(opcode::text, "still here"));
  REQUIRE(b.receive() == base::ready);
  CHECK(b.message.bytes == "still here");
}

TEST_CASE("after stop waits fail at once, and what needs no wait still works") {
  bench b;
  REQUIRE(b.receive() == base::ok);
  b.ws->stop();
  CHECK(b.received.calls == 0);
  b.turn();
  CHECK(b.received.status == base::cancelled);
  CHECK(b.receive() == base::cancelled);
  CHECK(b.ws->send(true, "still sent", &outcome::done, &b.was_sent) == base::ready);
  b.ws->close(1001, "");
  CHECK(b.sent() == lines{"text still sent", "close 1001 "});
}

TEST_CASE("a websocket may be given back from inside its own completion") {
  bench b;
  struct closer {
    bench& b;
    static void done(void* self, base::status) { static_cast<closer*>(self)->b.ws.reset(); }
  } c{b};
  REQUIRE(b.ws->receive(&b.message, &closer::done, &c) == base::ok);
  b.far.end();
  CHECK(b.far.destroyed);
  CHECK_FALSE(b.ws);
}

TEST_CASE("a stream that is lost completes what is pending, with timeout if the peer took nothing") {
  for (auto why : {base::closed, base::timeout}) {
    websocket_options o;
    o.high_water = 10;
    bench b(websocket_role::server, o);
    b.far.takes = false;
    REQUIRE(b.receive() == base::ok);
    REQUIRE(b.ws->send(true, std::string(50, 'x'), &outcome::done, &b.was_sent) == base::ok);
    b.far.observer->on_lost(why);
    CHECK(b.received.status == why);
    CHECK(b.was_sent.status == why);
    CHECK(b.far.destroyed);
  }
}

TEST_CASE("a fast peer does not hold the loop: reading goes on in the next turn") {
  bench b;
  b.ws->close(1000, "");
  const std::string much = b.frame(opcode::binary, std::string(4 << 20, 'x'));
  b.far.arrive(much);
  CHECK(b.far.in.size() > 2u << 20);
  b.turn(500ms, [&] { return b.far.in.empty(); });
  CHECK(b.far.in.empty());
}
