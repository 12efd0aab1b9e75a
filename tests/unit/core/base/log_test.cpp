#include "core/base/log.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace portico::base;

namespace {

struct line {
  level how;
  std::string source, text;
};
std::vector<line> lines;

// Takes the log for one test, and gives it back.
struct captured {
  captured() {
    lines.clear();
    set_log_sink([](level l, std::string_view source, std::string_view text) {
      lines.push_back({l, std::string(source), std::string(text)});
    });
  }
  ~captured() {
    set_log_sink(nullptr);
    set_log_level(level::info);
  }
};

}  // namespace

TEST_CASE("a line reaches the sink with its level and source") {
  const captured here;
  log(level::warning, "http", "text");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].how == level::warning);
  CHECK(lines[0].source == "http");
  CHECK(lines[0].text == "text");
}

TEST_CASE("lines below the level are not written") {
  const captured here;
  CHECK_FALSE(logs(level::debug));
  log(level::debug, "a", "hidden");
  set_log_level(level::error);
  log(level::warning, "a", "hidden");
  log(level::error, "a", "shown");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "shown");
}

TEST_CASE("a text cannot forge a second line") {
  const captured here;
  log(level::info, "a", "x\n2026-01-31T12:00:00.123Z ERROR a: forged\x1b[2J");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "x\\n2026-01-31T12:00:00.123Z ERROR a: forged\\x1b[2J");
}

TEST_CASE("a very long text is cut, and says by how much") {
  const captured here;
  log(level::info, "a", std::string(16 * 1024 + 7, 'x'));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == std::string(16 * 1024, 'x') + " ... (7 more bytes)");
}

TEST_CASE("a sink that throws loses its line only") {
  const captured here;
  set_log_sink([](level, std::string_view, std::string_view) { throw std::runtime_error("full"); });
  log(level::info, "a", "lost");
  set_log_sink([](level l, std::string_view s, std::string_view t) {
    lines.push_back({l, std::string(s), std::string(t)});
  });
  log(level::info, "a", "kept");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "kept");
}

TEST_CASE("lines of several threads do not mix") {
  const captured here;
  std::vector<std::thread> threads;
  for (char c : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([c] {
      for (int i = 0; i < 200; ++i) log(level::info, "t", std::string(100, c));
    });
  }
  for (auto& t : threads) t.join();
  REQUIRE(lines.size() == 800);
  for (const line& l : lines) REQUIRE(l.text == std::string(100, l.text[0]));
}
