// Listening, many loops, and the end.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <set>

#include "core/http/socket.hpp"
#include "support.hpp"

using namespace testing_http;

namespace {
void ok(http::exchange& e) { http::answer(e, 200, "text/plain", "fine"); }
}  // namespace

TEST_CASE("server: connections are spread over the loops, and each stays on its own") {
  std::mutex lock;
  std::set<std::uint32_t> loops;
  std::atomic<int> strays{0};
  running_server s(
      [&](http::exchange& e) {
        if (!e.home().here()) ++strays;
        {
          const std::lock_guard hold(lock);
          loops.insert(e.home().index());
        }
        ok(e);
      },
      {}, 4);
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    clients.emplace_back([&] {
      client c(s.port());
      for (int i = 0; i < 200; ++i) {
        c.send(request("GET", "/"));
        if (c.until("fine").ends_with("fine")) ++good;
      }
    });
  for (std::thread& t : clients) t.join();
  CHECK(good == 1600);
  CHECK(strays == 0);
  CHECK(loops.size() == 4);
  CHECK(s.server().stats().requests == 1600);
}

TEST_CASE("server: clients come and go on many loops at once") {
  running_server s(ok, {}, 4);
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t)
    clients.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        client c(s.port());
        c.send(request("GET", "/") + request("GET", "/"));
        if ((i + t) % 3 == 0) continue;
        c.until("fine");
        (i + t) % 3 == 1 ? c.reset() : c.half_close();
      }
    });
  for (std::thread& t : clients) t.join();
  CHECK(eventually([&] { return s.server().stats().connections_open == 0; }));
}

TEST_CASE("server: a port that is taken is an error that names it") {
  running_server s(ok);
  loop::event_loop l(0);
  loop::event_loop* all[] = {&l};
  struct none final : http::handler {
    void on_exchange(http::exchange&) noexcept override {}
  } h;
  http::server second(all, {}, h);
  const std::string port = std::to_string(s.port());
  CHECK_THROWS_WITH(second.listen("127.0.0.1", s.port()), Catch::Contains("127.0.0.1 port " + port));
  CHECK_THROWS_AS(second.listen("203.0.113.7", 0), std::system_error);
  CHECK_THROWS_AS(second.listen("no.such.name.invalid", 0), std::system_error);
}

TEST_CASE("server: localhost means both loopback addresses, on one port") {
  const std::vector<http::net::listening> sockets = http::net::listen("localhost", 0);
  REQUIRE(!sockets.empty());
  for (const auto& one : sockets) CHECK(one.port == sockets.front().port);
  bool has_v6 = true;
  try {
    for (const auto& one : http::net::listen("::1", 0)) http::net::close(one.socket);
  } catch (const std::system_error&) {
    has_v6 = false;
  }
  CHECK(sockets.size() == (has_v6 ? 2u : 1u));
  for (const auto& one : sockets) http::net::close(one.socket);
}

TEST_CASE("server: drain closes what is idle at once and lets the rest answer") {
  for (const std::size_t loops : {std::size_t(1), std::size_t(4)}) {
    std::atomic<http::exchange*> held{nullptr};
    running_server s(
        [&](http::exchange& e) {
          if (e.head().path == "/hold")
            held = &e;
          else
            ok(e);
        },
        {}, loops);
    std::vector<std::unique_ptr<client>> idle;
    for (int i = 0; i < 30; ++i) {
      idle.push_back(std::make_unique<client>(s.port()));
      if (i % 2) CHECK(read_response(idle.back()->send(request("GET", "/"))).status == 200);
    }
    client busy(s.port());
    busy.send(request("GET", "/hold"));
    REQUIRE(eventually([&] { return held != nullptr; }));
    std::atomic<bool> done{false};
    s.on_loop(0, [&] { s.server().drain([&] { done = true; }); });
    for (auto& c : idle) CHECK(c->closed(1s));
    CHECK_THROWS(client(s.port()));
    CHECK_FALSE(done);
    s.on_loop(held.load()->home().index(), [&] { ok(*held.load()); });
    const response r = read_response(busy);
    CHECK(r.body == "fine");
    CHECK(r.header("connection") == "close");
    CHECK(busy.closed(1s));
    CHECK(eventually([&] { return done.load(); }));
  }
}

TEST_CASE("server: drain of a server without connections is done at once") {
  running_server s(ok, {}, 3);
  std::promise<void> done;
  s.on_loop(0, [&] { s.server().drain([&] { done.set_value(); }); });
  CHECK(done.get_future().wait_for(2s) == std::future_status::ready);
}

TEST_CASE("server: close_all tells the holders and ends the rest") {
  std::atomic<http::exchange*> held{nullptr};
  std::atomic<int> told{1000};
  running_server s([&](http::exchange& e) {
    e.on_close([](void* user, base::status st) { *static_cast<std::atomic<int>*>(user) = st; }, &told);
    held = &e;
  });
  client c(s.port()), idle(s.port());
  c.send(request("GET", "/"));
  REQUIRE(eventually([&] { return held != nullptr; }));
  std::atomic<bool> done{false};
  s.on_loop(0, [&] {
    s.server().drain([&] { done = true; });
    s.server().close_all();
  });
  CHECK(c.closed(1s));
  CHECK(eventually([&] { return told == base::closed; }));
  CHECK_FALSE(done);
  s.on_loop(0, [&] { CHECK(held.load()->abort() == base::ok); });
  CHECK(eventually([&] { return done.load(); }));
}

TEST_CASE("server: with no descriptors left it waits, without turning in vain, and goes on") {
  running_server s(ok);
  client first(s.port());
  CHECK(read_response(first.send(request("GET", "/"))).status == 200);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  // The next free descriptor is the client's; none is left for the server's end.
  const int next = ::dup(first.fd());
  ::close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next) + 1;
  ::setrlimit(RLIMIT_NOFILE, &tight);
  client waiting(s.port());
  waiting.send(request("GET", "/"));
  const std::uint64_t turns = s.loop().turns();
  std::this_thread::sleep_for(300ms);
  CHECK(s.loop().turns() - turns < 20);
  CHECK(read_response(first.send(request("GET", "/"))).status == 200);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(read_response(waiting).status == 200);
}

TEST_CASE("server: beyond the greatest number of connections others wait their turn") {
  http::limits l;
  l.max_connections = 2;
  running_server s(ok, l);
  auto one = std::make_unique<client>(s.port());
  client two(s.port());
  CHECK(read_response(one->send(request("GET", "/"))).status == 200);
  CHECK(read_response(two.send(request("GET", "/"))).status == 200);
  client three(s.port());
  three.send(request("GET", "/"));
  CHECK(three.until("fine", 250ms).empty());
  one.reset();
  CHECK(read_response(three).status == 200);
}
