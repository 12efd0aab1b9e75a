#include "core/base/ids.hpp"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace portico::base;

TEST_CASE("a request id has its documented form") {
  const request_id id = next_request_id();
  const std::string text(id.text());
  REQUIRE(text.size() == 19);
  CHECK(text[8] == '-');
  CHECK(text.find_first_not_of("0123456789abcdef-") == std::string::npos);
  CHECK(std::string(next_request_id().text()).substr(0, 8) == text.substr(0, 8));
}

TEST_CASE("request ids of several threads never repeat") {
  constexpr std::size_t threads = 4, each = 5000;
  std::vector<std::vector<std::string>> drawn(threads);
  std::vector<std::thread> running;
  for (auto& mine : drawn) {
    running.emplace_back([&mine] {
      for (std::size_t i = 0; i < each; ++i) mine.emplace_back(next_request_id().text());
    });
  }
  for (auto& t : running) t.join();
  std::set<std::string> all;
  for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == threads * each);
}

TEST_CASE("a UUID is canonical, of version 4 and of the standard variant") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = make_uuid();
    REQUIRE(is_canonical_uuid(id));
    REQUIRE(id[14] == '4');
    REQUIRE(std::string("89ab").find(id[19]) != std::string::npos);
    seen.insert(id);
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("only the canonical form of a UUID is accepted") {
  CHECK(is_canonical_uuid("00000000-0000-0000-0000-000000000000"));
  for (const char* bad : {"", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
                          "00000000-0000-0000-0000-00000000000A", "00000000x0000-0000-0000-000000000000",
                          "0000000--0000-0000-0000-000000000000", "{0000000-0000-0000-0000-00000000000}"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_canonical_uuid(bad));
  }
}
