#include <catch2/catch.hpp>

#include "plugins/jobs/feed.hpp"

using namespace std::chrono_literals;

TEST_CASE("a feed that fails at once is opened at most ten times in ten seconds") {
  jobs::backoff wait;
  std::chrono::milliseconds at{0};
  int attempts = 0;
  while (at < 10s) {
    ++attempts;
    at += wait.after(1ms);
  }
  CHECK(attempts <= 10);
  CHECK(attempts >= 4);
}

TEST_CASE("a feed that held is opened again soon") {
  jobs::backoff wait;
  for (int i = 0; i < 10; ++i) wait.after(0s);
  CHECK(wait.after(0s) == 5s);
  CHECK(wait.after(11s) == 250ms);
  CHECK(wait.after(0s) == 500ms);
}
