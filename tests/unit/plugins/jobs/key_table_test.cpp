#include "plugins/jobs/key_table.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "plugins/jobs/idempotency.hpp"
#include "portico/response.hpp"

using jobs::key_table;
using outcome = key_table::outcome;

namespace {

constexpr std::uint32_t day = key_table::lifetime_s;

std::optional<std::string> read(const std::vector<std::pair<std::string, std::string>>& headers) {
  std::vector<portico_field> fields;
  for (const auto& h : headers) fields.push_back({portico::to_abi(h.first), portico::to_abi(h.second)});
  return jobs::read_idempotency_key(fields.data(), fields.size());
}

}  // namespace

TEST_CASE("a key is claimed once within 24 hours") {
  key_table t(10);
  CHECK(t.claim("a", 5) == outcome::claimed);
  CHECK(t.claim("a", 6) == outcome::taken);
  CHECK(t.claim("b", 6) == outcome::claimed);
  CHECK(t.claim("a", 5 + day - 1) == outcome::taken);
  CHECK(t.claim("a", 5 + day) == outcome::claimed);
  CHECK(t.claim("a", 5 + day + 1) == outcome::taken);
}

TEST_CASE("a released key can be claimed again, and releasing an unknown one is no fault") {
  key_table t(10);
  t.claim("a", 0);
  t.release("a");
  t.release("never");
  CHECK(t.size() == 0);
  CHECK(t.claim("a", 0) == outcome::claimed);
}

TEST_CASE("at the cap new keys are refused, nothing alive is forgotten, and what ended makes room") {
  key_table t(3);
  CHECK(t.claim("a", 0) == outcome::claimed);
  CHECK(t.claim("b", 10) == outcome::claimed);
  CHECK(t.claim("c", 10) == outcome::claimed);
  CHECK(t.claim("d", 11) == outcome::full);
  CHECK(t.claim("a", 12) == outcome::taken);
  CHECK(t.claim("d", day) == outcome::claimed);
  CHECK(t.claim("b", day) == outcome::taken);
  CHECK(t.claim("e", day) == outcome::full);
}

TEST_CASE("thousands of keys come and go, and each is found for as long as it lives") {
  key_table t(100'000);
  const auto name = [](int i) { return "key-" + std::to_string(i); };
  for (int i = 0; i < 20'000; ++i) REQUIRE(t.claim(name(i), static_cast<std::uint32_t>(i)) == outcome::claimed);
  for (int i = 0; i < 20'000; i += 3) t.release(name(i));
  for (int i = 0; i < 20'000; ++i)
    REQUIRE(t.claim(name(i), 20'000) == (i % 3 == 0 ? outcome::claimed : outcome::taken));
  CHECK(t.size() == 20'000);
  for (int i = 0; i < 5'000; ++i) REQUIRE(t.claim(name(100'000 + i), 20'000 + day) == outcome::claimed);
  CHECK(t.size() == 5'000);  // the others were swept, a few with each claim
}

TEST_CASE("of many threads with one key exactly one claims it") {
  key_table t(1000);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> claimed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { claimed += t.claim("round " + std::to_string(round), 1) == outcome::claimed; });
    for (std::thread& th : threads) th.join();
    REQUIRE(claimed == 1);
  }
}

TEST_CASE("the hash is SipHash-2-4-128") {
  const jobs::keyed_hash h({0x0706050403020100u, 0x0f0e0d0c0b0a0908u});
  const std::string none, one("\0", 1), fifteen("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15);
  CHECK(h(none) == jobs::keyed_hash::result{0xe6a825ba047f81a3u, 0x930255c71472f66du});
  CHECK(h(one) == jobs::keyed_hash::result{0x44af996bd8c187dau, 0x45fc229b11597634u});
  CHECK(h(fifteen) == jobs::keyed_hash::result{0x11a8b03399e99354u, 0xd9c3cf970fec087eu});
}

TEST_CASE("no header is no key; an empty one, or one over 255 characters, is a fault") {
  CHECK_FALSE(read({}));
  CHECK_FALSE(read({{"x", "y"}}));
  CHECK(read({{"idempotency-key", " a b "}}) == "a b");
  CHECK(read({{"idempotency-key", std::string(255, 'k')}}));
  std::string wide;
  for (int i = 0; i < 255; ++i) wide += "\xC3\xA9";
  CHECK(read({{"idempotency-key", wide}}));
  CHECK_THROWS_AS(read({{"idempotency-key", wide + "x"}}), portico::http_error);
  CHECK_THROWS_AS(read({{"idempotency-key", ""}}), portico::http_error);
  CHECK_THROWS_AS(read({{"idempotency-key", "  \t"}}), portico::http_error);
  CHECK_THROWS_AS(read({{"idempotency-key", std::string(256, 'k')}}), portico::http_error);
  CHECK_THROWS_AS(read({{"idempotency-key", "a"}, {"idempotency-key", "b"}}), portico::http_error);
  CHECK(read({{"idempotency-key", "a"}, {"idempotency-key", "a"}}) == "a");
}
