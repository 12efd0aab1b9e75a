#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bench.hpp"
#include "core/upstream/dial.hpp"
#include "core/upstream/resolver.hpp"

using namespace bench;
using upstream::address;
using upstream::resolver;

namespace {

struct asked final : resolver::query {
  int calls = 0;
  std::size_t found = 0;
  std::string error;
  void on_addresses(const std::vector<address>& all, std::string_view why) noexcept override {
    ++calls;
    found = all.size();
    error = why;
  }
};

const std::string impossible(70, 'x');  // a label is at most 63 characters: refused without asking a network

}  // namespace

TEST_CASE("numeric addresses need no lookup, and names are none") {
  CHECK(upstream::numeric_address("127.0.0.1", 80));
  CHECK(upstream::numeric_address("::1", 80));
  CHECK(upstream::numeric_address("2001:db8::7", 80));
  for (const char* name : {"localhost", "", "1.2.3", "256.1.1.1", "[::1]", "127.0.0.1 ", "::1%lo", "example.test"})
    CHECK_FALSE(upstream::numeric_address(name, 80));
}

TEST_CASE("a name is looked up once for all who ask, and then known for a while") {
  loops l;
  resolver r(l.loop, l.workers);
  asked a, b, gone;
  l.on([&] {
    CHECK(r.ask("localhost", a) == nullptr);
    CHECK(r.ask("localhost", b) == nullptr);
    CHECK(r.ask("localhost", gone) == nullptr);
    gone.forget();
    CHECK(a.calls == 0);
  });
  REQUIRE(l.until([&] { return a.calls > 0 && b.calls > 0; }));
  CHECK(a.found > 0);
  CHECK(b.found == a.found);
  CHECK(gone.calls == 0);
  l.on([&] {
    const std::vector<address>* known = r.ask("localhost", a);
    REQUIRE(known);
    CHECK(known->size() == a.found);
  });
  CHECK(a.calls == 1);
}

TEST_CASE("a failure says why, and is told again later to those who ask meanwhile") {
  loops l;
  resolver r(l.loop, l.workers);
  asked a;
  l.on([&] { CHECK(r.ask(impossible, a) == nullptr); });
  REQUIRE(l.until([&] { return a.calls == 1; }));
  CHECK(a.found == 0);
  CHECK_FALSE(a.error.empty());
  l.on([&] {
    CHECK(r.ask(impossible, a) == nullptr);
    CHECK(a.calls == 1);
  });
  CHECK(l.until([&] { return a.calls == 2; }));
}

TEST_CASE("when the pool's queue is full the failure comes later, too") {
  loops l;
  loop::workers narrow(1, 1);
  resolver r(l.loop, narrow);
  asked all[4];
  l.on([&] {
    for (int i = 0; i < 4; ++i) r.ask(impossible + std::to_string(i), all[i]);
    for (const asked& a : all) CHECK(a.calls == 0);
  });
  CHECK(l.until([&] { return all[0].calls + all[1].calls + all[2].calls + all[3].calls == 4; }));
  int refused = 0;
  for (const asked& a : all) refused += a.error.find("too many") != std::string::npos;
  CHECK(refused >= 1);
}

TEST_CASE("a resolver may end while names are looked up") {
  loops l;
  asked a;
  l.on([&] {
    resolver r(l.loop, l.workers);
    r.ask(impossible, a);
  });
  l.turn(50ms);
  CHECK(a.calls == 0);
}
