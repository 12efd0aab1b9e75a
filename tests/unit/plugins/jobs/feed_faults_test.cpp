// What the live feed does when it closes, is refused, or goes deaf.
#include <catch2/catch.hpp>

#include <chrono>
#include <string>

#include "watcher.hpp"

using fake::at;
using fake::stage;
using portico::testing::reply;

TEST_CASE("a feed that closes is opened again, after its end, and jobs are looked up then") {
  stage t;
  const std::string id = t.submit();
  t.s.loops.inside(0, [&] { t.comfy.feed->close(); });
  t.comfy.finish(id);
  t.s.advance(std::chrono::milliseconds(600));
  CHECK(t.comfy.connects == 2);
  t.grow_stale();
  t.s.advance(std::chrono::seconds(3));
  CHECK(t.comfy.calls("/history/" + id) >= 1);
}

TEST_CASE("the plugin stops while it is being asked, watched and fed") {
  stage t;
  const std::string id = t.submit();
  reply silent;
  silent.never = true;
  t.comfy.instead["/queue"] = silent;
  t.grow_stale();
  portico::testing::request r;
  r.target = "/api/v2/jobs/" + id;
  r.loop = 1;
  const auto asked = t.s.send(r);
  t.s.advance(std::chrono::milliseconds(50));
  CHECK_FALSE(asked->over);
  t.s.stop();
  CHECK(asked->over);
  CHECK(asked->status == 503);
}

TEST_CASE("a feed that says nothing of a submission is replaced") {
  stage t;
  t.comfy.silent = true;
  t.s.advance(std::chrono::milliseconds(10));  // the submission comes after the greeting, which would answer for it
  t.submit();
  t.s.advance(std::chrono::milliseconds(1900));
  CHECK(t.comfy.connects == 1);
  t.s.advance(std::chrono::milliseconds(1000));
  CHECK(t.comfy.connects == 2);
}

TEST_CASE("a feed that says nothing of a job's end is replaced") {
  stage t;
  const std::string id = t.submit();
  t.comfy.silent = true;
  t.s.advance(std::chrono::seconds(5));
  CHECK(t.comfy.connects == 1);
  t.comfy.finish(id);
  CHECK(t.status(id) == "succeeded");
  t.s.advance(std::chrono::seconds(3));
  CHECK(t.comfy.connects == 2);
}

TEST_CASE("a feed that never says a word is replaced, with patience") {
  stage t(false);
  t.comfy.greets = false;
  t.comfy.open_feed();
  t.s.advance(std::chrono::seconds(6));
  const int before = t.comfy.connects;
  CHECK(before >= 1);
  t.s.advance(std::chrono::seconds(60));
  CHECK(t.comfy.connects - before >= 4);
  CHECK(t.comfy.connects - before <= 20);
}

TEST_CASE("a feed that speaks is kept, however long") {
  stage t;
  for (int i = 0; i < 10; ++i) {
    const std::string id = t.submit();
    t.comfy.finish(id);
    t.s.advance(std::chrono::seconds(30));
    CHECK(t.status(id) == "succeeded");
  }
  CHECK(t.comfy.connects == 1);
}

TEST_CASE("attempts at a feed that is refused are few, also when jobs are submitted") {
  stage t(false);
  const int64_t before = t.s.stat("live_feed_connects_total");
  for (int i = 0; i < 100; ++i) {
    t.submit();
    t.s.advance(std::chrono::milliseconds(100));
  }
  CHECK(t.s.stat("live_feed_connects_total") - before <= 10);
}

TEST_CASE("a submission whose answer was lost and that ComfyUI never hears of is failed in the end") {
  stage t;
  reply lost;
  lost.breaks_after = 0;
  t.comfy.instead["/prompt"] = lost;
  t.s.post("/api/v2/jobs", fake::body_with());
  const std::string id = at(t.s.get("/api/v2/jobs")->body, "jobs.0.id");
  t.s.advance(std::chrono::seconds(20));
  CHECK(t.status(id) == "queued");
  t.s.advance(std::chrono::seconds(30));
  CHECK(t.status(id) == "failed");
  CHECK(at(t.job(id), "error.code") == "submission_lost");
}

TEST_CASE("a job that nobody watches is found ended all the same, without a feed") {
  stage t(false);
  const std::string id = t.submit();
  t.comfy.finish(id);
  t.s.advance(std::chrono::seconds(20));
  const std::size_t calls = t.s.calls.size();
  CHECK(t.status(id) == "succeeded");
  CHECK(t.s.calls.size() == calls);
}
