// Requests through real sockets into plugins and back, on every loop.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "browser.hpp"
#include "rig.hpp"

using namespace std::chrono_literals;

namespace {

// The far end and a server with everything in front of it.
struct pair_of_servers {
  rig::server far{2}, near{4};
  pair_of_servers() {
    rig::clear_log();
    far.enable("far", "far");
    REQUIRE(far.start() == "");
    near.enable("counter", "counter_provider")
        .enable("visits", "counter_user")
        .enable("fixture", "fixture", {{"limit", "8k"}, {"upstream", far.url()}})
        .enable("hello", "hello", {{"greeting", "Salut"}})
        .enable("hello_c", "hello_c")
        .enable("sse", "sse", {{"pause", "2ms"}})
        .enable("proxy", "proxy", {{"upstream", far.url()}})
        .enable("echo", "echo");
    REQUIRE(near.start() == "");
  }
  ~pair_of_servers() {
    CHECK(near.stop());
    CHECK(far.stop());
  }
  rig::answer get(const std::string& target, const std::string& headers = {}) {
    return rig::get(near.port(), target, headers);
  }
  rig::answer post(const std::string& target, const std::string& body) { return rig::post(near.port(), target, body); }
};

}  // namespace

TEST_CASE("hello from the SDK and from C, over many connections and loops") {
  pair_of_servers s;
  std::vector<std::thread> all;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    all.emplace_back([&] {
      rig::browser b(s.near.port());
      for (int i = 0; i < 25; ++i) {
        const auto hello = b.get("/hello/Ada"), c = b.get("/hello-c");
        good += hello.status == 200 && hello.body == "Salut, Ada!\n" && c.status == 200 && c.body == "Hello from C!\n";
      }
    });
  for (auto& t : all) t.join();
  CHECK(good == 200);
  CHECK(s.get("/hello/%C3%A9t%C3%A9").body == "Salut, été!\n");
  CHECK(s.get("/hello/Ada").header("content-type") == "text/plain; charset=utf-8");
  rig::browser b(s.near.port());
  b.request("HEAD", "/hello/Ada");
  const auto head = b.read_answer();
  CHECK(head.status == 200);
  CHECK(head.header("content-length") == "12");
  CHECK(b.get("/hello/Ada").status == 200);  // the connection is in step
  CHECK(s.get("/nothing").status == 404);
  CHECK(s.post("/hello/Ada", "x").status == 405);
}

TEST_CASE("a handler is told all of the request's head") {
  pair_of_servers s;
  const std::string expected = "GET\n/where\n2\nhttp\n127.0.0.1\nhttp://127.0.0.1\n\n127.0.0.1\nan id";
  CHECK(s.get("/where?x=1&a=b+c", "X-Two: 2\r\n").body == expected);
}

TEST_CASE("with a token, routes ask for it unless they are open, and handlers learn its name") {
  rig::server s(2);
  s.token = "secret";
  s.enable("fixture", "fixture").enable("counter", "counter_provider");
  REQUIRE(s.start() == "");
  CHECK(rig::get(s.port(), "/where").status == 401);
  CHECK(rig::get(s.port(), "/where?a=b+c", "Authorization: Bearer secret\r\nx-two: 2\r\n").body.find("\ndefault\n") !=
        std::string::npos);
  CHECK(s.stop());
}

TEST_CASE("handlers that throw: the status and envelope of what was thrown, and nothing of what it says") {
  pair_of_servers s;
  const auto teapot = s.get("/throw/teapot");
  CHECK(teapot.status == 418);
  CHECK(teapot.body == "{\"error\":{\"code\":\"teapot\",\"message\":\"short and stout\",\"details\":null}}");
  CHECK(teapot.header("content-type") == "application/json; charset=utf-8");
  for (const char* what : {"std", "int"}) {
    const auto a = s.get(std::string("/throw/") + what);
    CHECK(a.status == 500);
    CHECK(a.body ==
          "{\"error\":{\"code\":\"internal\",\"message\":\"the server could not answer this "
          "request\",\"details\":null}}");
  }
  CHECK(rig::logged("handler threw: boom"));
  CHECK(s.get("/throw/limit").status == 503);
  const auto late = s.get("/throw/late");
  CHECK((late.status == 200 || late.status == 0));  // the reset may overtake the head
  CHECK_FALSE(late.whole);
  CHECK(s.get("/move/throw").status == 500);
  CHECK(rig::logged("boom on another loop"));
  CHECK(s.get("/work/throw").status == 500);
  CHECK(rig::logged("boom on the pool"));
  CHECK(s.get("/bad-header").status == 500);
  CHECK(s.get("/file").body == "3456 refused 0123456789");
  CHECK(s.get("/deadline").status == 504);
  CHECK(s.get("/move/stay").status == 200);
  CHECK(s.get("/move/home").status == 200);
  CHECK(s.get("/million").body == "1000000");
  CHECK(rig::logs_soon("background task died"));
}

TEST_CASE("request bodies in pieces, whole, too long, and asked for with 100 Continue") {
  pair_of_servers s;
  {
    rig::browser b(s.near.port());
    b.request_chunked("POST", "/body?how=pieces", "Expect: 100-continue\r\n");
    CHECK(b.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    for (int i = 0; i < 10; ++i) b.chunk(std::string(2500, 'a'));
    b.chunk("");
    const auto a = b.read_answer();
    CHECK(a.body.substr(0, 6) == "25000/");
    CHECK(std::stoi(a.body.substr(6)) >= 25);
  }
  rig::browser b(s.near.port());
  b.send("POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhe");
  std::this_thread::sleep_for(20ms);
  b.send("llo");
  CHECK(b.read_answer().body == "hello");
  CHECK(b.post("/body", "again").body == "again");
  CHECK(s.post("/body", std::string(70'000, 'a')).status == 413);                // the handler's limit
  CHECK(s.post("/body?how=pieces", std::string(1'100'000, 'a')).status == 413);  // the route's
  rig::browser chunked(s.near.port());
  chunked.request_chunked("POST", "/body?how=pieces");
  for (int i = 0; i < 3; ++i) chunked.chunk(std::string(500'000, 'a'));
  CHECK(chunked.read_answer().status == 413);
}

TEST_CASE("writes of one turn leave together, and a slow client holds its handler back") {
  pair_of_servers s;
  CHECK(s.get("/burst").body == "abcdef");
  CHECK(s.get("/burst").header("x-one") == "1");
  rig::browser b(s.near.port());
  b.request("GET", "/flood");
  std::this_thread::sleep_for(50ms);
  const auto flood = b.read_answer();
  CHECK(flood.whole);
  CHECK(flood.body.size() == 500 * 1008);
  const auto count = s.get("/count?limit=3");
  CHECK(count.body == "event: tick\ndata: 1\n\nevent: tick\ndata: 2\n\nevent: tick\ndata: 3\n\n");
  CHECK(count.header("content-type") == "text/event-stream");
  CHECK(count.header("cache-control") == "no-cache, no-transform");
}

TEST_CASE("services are called from every loop and complete on it") {
  pair_of_servers s;
  std::vector<std::thread> all;
  std::atomic<int> good{0};
  std::atomic<long> most{0};
  for (int t = 0; t < 6; ++t)
    all.emplace_back([&] {
      rig::browser b(s.near.port());
      for (int i = 0; i < 20; ++i) {
        const auto sum = b.get("/sum?n=1"), visits = b.post("/visits", "");
        good += sum.status == 200 && visits.status == 200;
        const long n = std::max(std::stol(sum.body), std::stol(visits.body));
        for (long m = most; n > m && !most.compare_exchange_weak(m, n);) {
        }
      }
    });
  for (auto& t : all) t.join();
  CHECK(good == 120);
  CHECK(most == 240);
  CHECK(s.get("/sum?n=-1").status == 500);
}

TEST_CASE("state by loop belongs to its loop") {
  pair_of_servers s;
  std::map<std::string, int> asked;
  std::vector<std::unique_ptr<rig::browser>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<rig::browser>(s.near.port()));
  for (int round = 0; round < 5; ++round)
    for (auto& b : all) {
      const std::string body = b->get("/shard").body;
      const std::string loop = body.substr(0, body.find(' '));
      CHECK(body == loop + " " + std::to_string(++asked[loop]));
    }
  CHECK(asked.size() == 4);
}

TEST_CASE("a proxy streams both bodies, passes early answers on, and breaks off when its upstream does") {
  pair_of_servers s;
  {
    rig::browser b(s.near.port());
    b.request_chunked("POST", "/proxy/swallow");
    for (int i = 0; i < 100; ++i) b.chunk(std::string(30'000, 'x'));
    b.chunk("");
    CHECK(b.read_answer().body == "3000000");
    b.request_chunked("POST", "/proxy/echo");
    std::string sent;
    for (int i = 0; i < 100; ++i) {
      const std::string piece(3000, static_cast<char>('a' + i % 26));
      b.chunk(piece);
      sent += piece;
    }
    b.chunk("");
    const auto a = b.read_answer();
    CHECK(a.status == 200);
    CHECK(a.whole);
    CHECK(a.body == sent);
  }
  const auto big = s.get("/proxy/big");
  CHECK(big.body.size() == 1'000'000);
  CHECK(big.whole);
  CHECK(big.header("content-type") == "x/y");
  CHECK(big.header("content-length") == "1000000");
  const auto breaks = s.get("/proxy/breaks");
  CHECK(breaks.status == 200);
  CHECK_FALSE(breaks.whole);
  CHECK(breaks.body.substr(0, 3) == "one");
  const auto early = s.post("/proxy/early", "data");
  CHECK(early.status == 413);
  CHECK(early.body == "too big");
  CHECK(s.get("/proxy/nowhere").status == 404);
  CHECK(s.get("/fetch/ok").body == "abc");
  CHECK(s.get("/fetch/ok").status == 203);
  CHECK(s.get("/fetch/slow").status == 504);
  CHECK(s.get("/fetch/breaks").status == 502);
}

TEST_CASE("an upstream that is not there is 502") {
  rig::server s(1);
  s.enable("proxy", "proxy", {{"upstream", "http://127.0.0.1:1"}});
  REQUIRE(s.start() == "");
  const auto a = rig::get(s.port(), "/proxy/x");
  CHECK(a.status == 502);
  CHECK(a.body ==
        "{\"error\":{\"code\":\"upstream_error\",\"message\":\"the server behind this one cannot be "
        "reached\",\"details\":null}}");
  CHECK(s.stop());
}

TEST_CASE("websockets: accepted, limited, closed by either end, and opened to an upstream") {
  pair_of_servers s;
  CHECK(s.get("/echo").status == 426);
  {
    rig::browser b(s.near.port());
    REQUIRE(b.upgrade("/echo") == 101);
    for (int i = 0; i < 50; ++i) b.send_text("m" + std::to_string(i));
    for (int i = 0; i < 50; ++i) CHECK(b.read_frame() == "m" + std::to_string(i));
    b.send_close(1000);
    CHECK(b.read_frame() == "close 1000");
  }
  {
    rig::browser b(s.near.port());
    REQUIRE(b.upgrade("/echo") == 101);
    b.send_text(std::string(70'000, 'x'));
    CHECK(b.read_frame().substr(0, 5) == "close");
  }
  {
    rig::browser b(s.near.port());
    REQUIRE(b.upgrade("/echo") == 101);
    b.reset();
  }
  CHECK(s.get("/ws-up/echo").body == "m0m1m2");
  CHECK(s.get("/ws-up/refused").status == 502);
}

TEST_CASE("work beyond the queue is refused with 503 and the rest is done") {
  pair_of_servers s;
  std::vector<std::unique_ptr<rig::browser>> all;
  for (int i = 0; i < 60; ++i) {
    all.push_back(std::make_unique<rig::browser>(s.near.port()));
    all.back()->request("GET", "/work/ok");
  }
  int good = 0, busy = 0, other = 0;
  for (auto& b : all) {
    const int status = b->read_answer().status;
    ++(status == 200 ? good : status == 503 ? busy : other);
  }
  CHECK(good >= 8);
  CHECK(other == 0);
  CHECK(good + busy == 60);
}
