// The fake server, which plugin authors test with: what it lets a plugin do, and what it finds fault with.
#include <catch2/catch.hpp>

#include <portico/testing/server.hpp>

#include <string>

#include "hello_plugin.hpp"

using namespace std::chrono_literals;
using portico::testing::reply;
using portico::testing::server;

namespace {

portico::testing::request post(std::string target) {
  portico::testing::request r;
  r.method = "POST";
  r.target = std::move(target);
  return r;
}

// A plugin without the SDK that keeps its exchanges.
const portico_plugin* PORTICO_CALL keeper_query(uint32_t) {
  static const auto query = [] {
    portico_plugin p{};
    p.struct_size = sizeof p;
    p.id = "test.keeper";
    p.version = p.summary = "1";
    p.create = [](const portico_host* h, void** self, portico_error*) -> int32_t {
      *self = const_cast<portico_host*>(h);
      return PORTICO_OK;
    };
    p.start = [](void* self, portico_error*) -> int32_t {
      const auto* h = static_cast<const portico_host*>(self);
      const portico_route r = {sizeof r, 0, "GET", "/kept", -1, [](void*, portico_exchange*, const portico_request*) {},
                               self};
      return static_cast<const portico_http*>(h->find(h, PORTICO_HTTP))->route(h, &r);
    };
    p.stop = p.destroy = [](void*) {};
    return p;
  }();
  return &query;
}

}  // namespace

TEST_CASE("requests are routed, parameters decoded, and literals win over parameters") {
  server s;
  s.load(&portico_query);
  CHECK(s.get("/hello/Ada%20L")->body == "Hello, Ada L");
  CHECK(s.get("/hello/you")->body == "you");
  CHECK(s.get("/rest/a/b%2Fc")->body == "a/b/c");
  CHECK(s.get("/nothing")->status == 404);
  CHECK(s.post("/hello/Ada", "")->status == 405);
  CHECK(s.get("/hello/Ada")->header("content-type") == "text/plain; charset=utf-8");
  s.stop();
}

TEST_CASE("time moves only when the test lets it") {
  server s;
  s.load(&portico_query, {{"pause", "30s"}});
  const auto c = s.send({.target = "/hello/Ada"});
  s.run();
  CHECK_FALSE(c->over);
  s.advance(29'999ms);
  CHECK_FALSE(c->over);
  s.advance(1ms);
  CHECK(c->status == 200);
  CHECK(s.loops.now() == 30s);
  s.advance(3h);
  CHECK(s.stat("calls_total") == 4);  // the answer, and three hours of a task beside the requests
  s.stop();
}

TEST_CASE("settings are checked as a server would") {
  server s;
  CHECK_THROWS_WITH(s.load(&portico_query, {{"pauze", "1s"}}), "unknown key \"pauze\"");
  CHECK_THROWS_WITH(s.load(&portico_query, {{"pause", "soon"}}), Catch::Contains("pause = \"soon\""));
  CHECK_THROWS_WITH(s.load(&portico_query, {{"pause", "2h"}}), Catch::Contains("out of range"));
  CHECK_THROWS_WITH(s.load(&portico_query, {{"limit", "64x"}}), Catch::Contains("limit"));
  CHECK_THROWS_WITH(s.load(&portico_query, {{"mode", "refuse"}}), "told to refuse");
  CHECK(s.instances.empty());
  s.stop();
}

TEST_CASE("bodies: whole, in pieces, beyond the route's and the handler's limit") {
  server s;
  s.load(&portico_query);
  CHECK(s.post("/echo", "hello")->body == "hello");
  CHECK(s.post("/echo", std::string(60, 'x'))->status == 413);
  CHECK(s.post("/echo", std::string(200, 'x'))->status == 413);
  auto r = post("/echo");
  r.body_follows = true;
  r.headers = {{"expect", "100-continue"}};
  const auto c = s.send(r);
  s.run();
  CHECK(c->continued);
  CHECK_FALSE(c->over);
  c->send("a");
  c->send("b");
  c->end();
  s.run();
  CHECK(c->body == "ab");
  s.stop();
}

TEST_CASE("upstreams answer by script: late, broken, refusing, silent, and by what they were sent") {
  server s;
  s.load(&portico_query);
  reply slow = reply::text(203, "slow");
  slow.delay = 5s;
  reply broken = reply::text(200, "never seen");
  broken.breaks_after = 0;
  reply silent;
  silent.never = true;
  s.upstream("http://up/ok", reply::json(200, "{}"));
  s.upstream("http://up/slow", slow);
  s.upstream("http://up/broken", broken);
  s.upstream("http://up/silent", silent);
  CHECK(s.get("/fetch/ok")->body == "{}");
  CHECK(s.get("/fetch/slow")->status == 203);
  CHECK(s.get("/fetch/broken")->status == 502);
  CHECK(s.get("/fetch/silent")->status == 504);
  CHECK(s.get("/fetch/other")->status == 502);
  s.upstream("http://up/sink", [](const portico::testing::seen_call& c) { return reply::text(201, "got " + c.body); });
  CHECK(s.post("/forward", "the body")->body == "got the body");
  REQUIRE(s.calls.size() == 6);
  CHECK(s.calls.back().method == "POST");
  CHECK(s.calls.back().url == "http://up/sink");
  s.stop();
}

TEST_CASE("an upstream may answer before it has taken the body") {
  server s;
  s.load(&portico_query);
  reply early = reply::text(413, "too big");
  early.early = true;
  s.upstream("http://up/sink", early);
  auto r = post("/forward");
  r.body_follows = true;
  const auto c = s.send(r);
  c->send("a piece");
  CHECK(s.run_until([&] { return c->over; }));
  CHECK(c->status == 413);
  s.stop();
}

TEST_CASE("events leave in the turn they were sent in, and no text passes for an event of its own") {
  server s;
  s.load(&portico_query);
  const auto c = s.send({.target = "/events"});
  s.run();
  CHECK(c->body == "event: tick\ndata: line 1\ndata: and\ndata: another\n\n");
  CHECK(c->header("x-accel-buffering") == "no");
  s.advance(2s);
  CHECK(c->flushes == 3);
  CHECK_FALSE(c->over);
  c->disconnect();
  s.run();
  CHECK(c->over);
  s.stop();
}

TEST_CASE("websockets: of a client, and to an upstream") {
  server s;
  s.load(&portico_query);
  const auto c = s.send({.target = "/socket", .headers = {{"upgrade", "websocket"}}});
  c->message("one");
  c->message("two");
  s.run();
  CHECK(c->messages == std::vector<std::string>{"one!", "two!"});
  c->close();
  s.run();
  CHECK(c->over);
  CHECK(s.get("/socket")->status == 426);
  CHECK(s.get("/dial")->status == 502);
  std::string seen;
  s.upstream_socket_at("ws://up/feed", [&](portico::testing::upstream_socket& far) {
    seen = portico::testing::field_of(far.headers, "x-client");
    far.on_message = [](portico::testing::upstream_socket& f, const std::string& m) { f.send(m + ", you"); };
  });
  CHECK(s.get("/dial")->body == "hello, you");
  CHECK(seen == "me");
  s.stop();
}

TEST_CASE("work runs off the loops; a full queue is 503; a deadline is 504") {
  server s;
  s.load(&portico_query);
  CHECK(s.get("/work")->body == "-1");
  s.pool_capacity = 0;
  CHECK(s.get("/work")->status == 503);
  CHECK(s.get("/deadline")->status == 504);
  s.stop();
}

TEST_CASE("a service can be played by the test, and one of the plugin called") {
  server s;
  const adder twice = {sizeof twice, 0, [](void* self, int64_t n, int64_t* out, portico_done, void*) -> int32_t {
                         *out = n * *static_cast<int64_t*>(self);
                         return PORTICO_READY;
                       }};
  int64_t factor = 21;
  s.provide("test.adder/1", twice, &factor);
  s.load(&portico_query);
  CHECK(s.get("/add")->body == "42");
  void* self = nullptr;
  const adder& echo = s.service<adder>("test.echo/1", &self);
  int64_t out = 0;
  s.loops.inside(0, [&] { CHECK(echo.add(self, 7, &out, nullptr, nullptr) == PORTICO_READY); });
  CHECK(out == 7);
  CHECK_THROWS(s.service<adder>("test.nothing/1", &self));
  s.stop();
}

TEST_CASE("filters let pass or answer") {
  server s;
  s.load(&portico_query, {{"guard", "yes"}});
  CHECK(s.get("/hello/you")->body == "you");
  CHECK(s.fetch({.target = "/hello/you", .token_id = "bad"})->status == 403);
  s.stop();
}

TEST_CASE("an error of a handler is an envelope") {
  server s;
  s.load(&portico_query);
  const auto c = s.get("/throw");
  CHECK(c->status == 422);
  CHECK(c->body == "{\"error\":{\"code\":\"no\",\"message\":\"not so\",\"details\":{\"why\":1}}}");
  s.stop();
}

TEST_CASE("what a plugin does wrong is said at the stop") {
  {
    server s;
    s.load(&portico_query);
    CHECK(s.get("/short")->aborted);
    CHECK_THROWS_WITH(s.stop(), Catch::Contains("GET /short") && Catch::Contains("fewer bytes"));
  }
  server s;
  s.load(&keeper_query);
  const auto c = s.send({.target = "/kept"});
  s.run();
  CHECK_THROWS_WITH(s.stop(), Catch::Contains("still holds an exchange (GET /kept)"));
}

TEST_CASE("a stop ends what waits, and the plugin hears of it") {
  server s;
  s.load(&portico_query, {{"pause", "1m"}});
  const auto a = s.send({.target = "/hello/a"}), b = s.send({.target = "/hello/b", .loop = 1});
  s.run();
  s.stop();
  CHECK(a->status == 503);
  CHECK(b->status == 503);
  CHECK(s.logged("stops"));
}
