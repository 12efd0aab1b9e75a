// Filters before every route, and the numbers that plugins and core show.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "browser.hpp"
#include "rig.hpp"

using namespace std::chrono_literals;

namespace {

struct filtered {
  rig::server s{4};
  filtered() {
    rig::clear_log();
    // "two" stands first in `enabled`, so it runs first.
    s.enable("second", "filters", {{"name", "two"}})
        .enable("first", "filters", {{"name", "one"}})
        .enable("hello", "hello");
    REQUIRE(s.start() == "");
  }
};

std::size_t line_of(std::string_view part) {
  const auto all = rig::log_lines();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].find(part) != std::string::npos) return i;
  return all.size();
}

std::map<std::string, long> figures_of(rig::server& s) {
  std::map<std::string, long> out;
  std::istringstream lines(rig::get(s.port(), "/figures").body);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t last = line.rfind(' ');
    out[line.substr(0, last)] = std::stol(line.substr(last + 1));
  }
  return out;
}

}  // namespace

TEST_CASE("filters run in the order of enabled, before the handler, and only where there is a route") {
  filtered f;
  CHECK(rig::get(f.s.port(), "/hello/Ada").body == "Hello, Ada!\n");
  CHECK(line_of("two saw /hello/Ada") < line_of("one saw /hello/Ada"));
  CHECK(rig::get(f.s.port(), "/nothing").status == 404);
  CHECK_FALSE(rig::logged("saw /nothing"));
  CHECK(f.s.stop());
}

TEST_CASE("a filter that answers is the last to see the request") {
  filtered f;
  const auto a = rig::get(f.s.port(), "/hello/Ada", "x-two: deny\r\n");
  CHECK(a.status == 403);
  CHECK(a.body == "two says no");
  CHECK_FALSE(rig::logged("one saw"));
  CHECK(rig::get(f.s.port(), "/hello/Ada", "x-one: deny\r\n").body == "one says no");
  const auto limited = rig::get(f.s.port(), "/hello/Ada", "x-one: error\r\n");
  CHECK(limited.status == 429);
  CHECK(limited.header("retry-after") == "7");
  CHECK(f.s.stop());
}

TEST_CASE("a filter may take its time, throw, or do what it must not") {
  filtered f;
  rig::browser b(f.s.port());
  CHECK(b.get("/hello/a", "x-one: slow\r\nx-two: slow\r\n").body == "Hello, a!\n");
  CHECK(b.get("/hello/b", "x-one: work\r\n").body == "Hello, b!\n");
  CHECK(b.get("/hello/c", "x-two: throw\r\n").status == 500);
  CHECK(b.get("/hello/d", "x-one: read\r\n").status == 500);
  CHECK(rig::logged("portico.http/1 read: a filter must not read the body"));
  CHECK(b.get("/hello/e").body == "Hello, e!\n");
  CHECK(f.s.stop());
}

TEST_CASE("many requests through filters on all loops") {
  filtered f;
  std::vector<std::thread> all;
  std::atomic<int> good{0};
  for (int t = 0; t < 6; ++t)
    all.emplace_back([&] {
      rig::browser b(f.s.port());
      for (int i = 0; i < 30; ++i) good += b.get("/hello/x", i % 3 ? "" : "x-one: slow\r\n").status == 200;
    });
  for (auto& t : all) t.join();
  CHECK(good == 180);
  CHECK(f.s.stop());
}

TEST_CASE("a client that goes, or a stop, ends a filter that waits") {
  filtered f;
  {
    rig::browser gone(f.s.port());
    gone.request("GET", "/hello/gone", {}, "x-one: wait\r\n");
    REQUIRE(rig::logs_soon("one saw /hello/gone"));
    gone.reset();
  }
  rig::browser b(f.s.port());
  b.request("GET", "/hello/waits", {}, "x-one: wait\r\n");
  REQUIRE(rig::logs_soon("one saw /hello/waits"));
  CHECK(f.s.stop());
  CHECK(b.read_answer().status == 503);
}

TEST_CASE("a plugin reads its own numbers and those of core") {
  rig::server s(4);
  s.enable("figures", "figures");
  REQUIRE(s.start() == "");
  for (int i = 0; i < 12; ++i) REQUIRE(rig::get(s.port(), "/record").status == 200);
  auto n = figures_of(s);
  CHECK(n["figures calls_total"] == 24);
  CHECK(n["figures level"] == 24);
  CHECK(n["figures sizes_bytes 10"] == 24);
  CHECK(n["figures sizes_bytes 100"] == 36);
  CHECK(n["figures sizes_bytes 1000"] == 36);
  CHECK(n["figures sizes_bytes all"] == 48);
  CHECK(n["figures sizes_bytes_sum"] == 12 * 5022);
  CHECK(n["portico loops"] == 4);
  CHECK(n["portico requests_total"] >= 12);
  CHECK(n["portico connections_accepted_total"] >= 12);
  CHECK(n["portico bytes_out_total"] > 0);
  CHECK(n["portico loop_turns_total"] > 0);
  CHECK(n.count("portico upstream_connections_idle") == 1);
  CHECK(n.count("portico pool_waiting") == 1);
  CHECK(s.stop());
}
