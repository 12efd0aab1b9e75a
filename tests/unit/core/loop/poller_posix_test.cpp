#include "core/loop/poller.hpp"

#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/loop/loop.hpp"

using namespace portico::loop;
using std::chrono::milliseconds;

namespace {

struct pair {
  int ours = -1, theirs = -1;
  pair() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    ours = fds[0];
    theirs = fds[1];
  }
  ~pair() {
    close_ours();
    close_theirs();
  }
  pair(const pair&) = delete;
  pair& operator=(const pair&) = delete;
  void close_ours() { ::close(std::exchange(ours, -1)); }
  void close_theirs() { ::close(std::exchange(theirs, -1)); }
  void send() const { REQUIRE(::send(theirs, "x", 1, 0) == 1); }
};

struct listener final : watcher {
  std::function<void(unsigned)> act;
  int calls = 0;
  unsigned seen = 0;
  void on_ready(unsigned what) noexcept override {
    ++calls;
    seen = what;
    if (act) act(what);
  }
};

void turn(poller& p, milliseconds limit = milliseconds(0)) {
  p.wait(limit);
  p.dispatch();
}

}  // namespace

TEST_CASE("readiness is level-triggered and follows the interest") {
  poller p;
  pair s;
  listener l;
  p.add(s.ours, readable, &l);
  turn(p);
  CHECK(l.calls == 0);
  s.send();
  turn(p);
  turn(p);
  CHECK(l.calls == 2);
  CHECK(l.seen == readable);
  p.modify(s.ours, readable | writable, &l);
  turn(p);
  CHECK(l.seen == (readable | writable));
  p.modify(s.ours, 0, &l);
  turn(p);
  CHECK(l.calls == 3);
  p.remove(s.ours, &l);
}

TEST_CASE("a peer that has gone is reported even without interest") {
  poller p;
  pair s;
  listener l;
  p.add(s.ours, 0, &l);
  s.close_theirs();
  turn(p, milliseconds(1000));
  CHECK(l.calls == 1);
  CHECK((l.seen & hangup) != 0);
  p.remove(s.ours, &l);
}

TEST_CASE("a peer that will send no more is reported only where asked for") {
  poller p;
  pair s;
  listener l;
  p.add(s.ours, 0, &l);
  ::shutdown(s.theirs, SHUT_WR);
  turn(p);
  CHECK(l.calls == 0);
  p.modify(s.ours, finished, &l);
  turn(p, milliseconds(1000));
  CHECK(l.seen == finished);
  p.remove(s.ours, &l);
}

TEST_CASE("a watcher may remove itself, and be destroyed, inside on_ready") {
  poller p;
  pair s;
  auto l = std::make_unique<listener>();
  int calls = 0;
  l->act = [&](unsigned) {
    ++calls;
    p.remove(s.ours, l.get());
    s.close_ours();
  };
  p.add(s.ours, readable, l.get());
  s.send();
  turn(p);
  l.reset();
  turn(p);
  CHECK(calls == 1);
}

TEST_CASE("a watcher destroyed by an earlier one of the same turn is not called") {
  poller p;
  std::vector<std::unique_ptr<pair>> sockets;
  std::vector<std::unique_ptr<listener>> all;
  int calls = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    sockets.push_back(std::make_unique<pair>());
    all.push_back(std::make_unique<listener>());
    p.add(sockets[i]->ours, readable, all[i].get());
    sockets[i]->send();
  }
  for (auto& one : all) {
    one->act = [&](unsigned) {
      ++calls;
      for (std::size_t i = 0; i < all.size(); ++i) {  // all but the one that runs
        if (!all[i] || all[i]->calls > 0) continue;
        p.remove(sockets[i]->ours, all[i].get());
        sockets[i]->close_ours();
        all[i].reset();
      }
    };
  }
  turn(p);
  CHECK(calls == 1);
}

TEST_CASE("a descriptor number that is used anew gets nothing of the old one") {
  poller p;
  pair one, old;
  listener killer, victim, fresh;
  auto made = std::unique_ptr<pair>();
  // Both are ready; whichever is called first replaces the other's socket by one that is silent.
  auto replace = [&](listener& other, pair& socket) {
    p.remove(socket.ours, &other);
    socket.close_ours();
    made = std::make_unique<pair>();
    p.add(made->ours, readable, &fresh);
  };
  killer.act = [&](unsigned) {
    if (!made) replace(victim, old);
  };
  victim.act = [&](unsigned) {
    if (!made) replace(killer, one);
  };
  p.add(one.ours, readable, &killer);
  p.add(old.ours, readable, &victim);
  one.send();
  old.send();
  turn(p);
  CHECK(killer.calls + victim.calls == 1);
  CHECK(fresh.calls == 0);
}

TEST_CASE("an interest the system refuses throws and changes nothing") {
  poller p;
  pair s;
  listener l;
  CHECK_THROWS_AS(p.modify(s.ours, readable, &l), std::system_error);
  CHECK_THROWS_AS(p.add(-1, readable, &l), std::system_error);
  p.add(s.ours, readable, &l);
  CHECK_THROWS_AS(p.add(s.ours, writable, &l), std::system_error);
  s.send();
  turn(p);
  CHECK(l.seen == readable);
  p.remove(s.ours, &l);
}

TEST_CASE("wake ends a wait that has begun, and one that has not") {
  poller p;
  p.wake();
  turn(p, milliseconds(-1));
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    p.wake();
  });
  const auto begun = std::chrono::steady_clock::now();
  turn(p, milliseconds(-1));
  CHECK(std::chrono::steady_clock::now() - begun >= milliseconds(10));
  other.join();
  const auto again = std::chrono::steady_clock::now();
  turn(p, milliseconds(20));  // the wake was used up
  CHECK(std::chrono::steady_clock::now() - again >= milliseconds(15));
}

TEST_CASE("more ready sockets than one wait reports are all served") {
  poller p;
  std::vector<std::unique_ptr<pair>> sockets;
  std::vector<std::unique_ptr<listener>> all;
  int calls = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    sockets.push_back(std::make_unique<pair>());
    all.push_back(std::make_unique<listener>());
    listener& l = *all.back();
    pair& s = *sockets.back();
    l.act = [&](unsigned) {
      ++calls;
      char byte;
      CHECK(::recv(s.ours, &byte, 1, 0) == 1);
    };
    p.add(s.ours, readable, &l);
    s.send();
  }
  for (int i = 0; i < 4; ++i) turn(p);
  CHECK(calls == 400);
}
