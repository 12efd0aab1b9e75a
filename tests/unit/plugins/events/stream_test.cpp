// The event stream as a client sees it, over a comfy.jobs/1 that the test plays.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <portico/testing/server.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/comfy/jobs.h"
#include "plugins/comfy/steady.hpp"

extern "C" const portico_plugin* portico_query(uint32_t);

using namespace std::chrono_literals;

// What the service keeps of one subscription.
struct comfy_subscription {
  std::deque<std::pair<int32_t, std::string>> queued;  // kind + 100 when it is the last
  std::string given, job, base_url;
  comfy_event* out = nullptr;
  portico_done done = nullptr;
  void* user = nullptr;
  uint32_t loop = 0;
};

namespace {

constexpr int32_t last = 100;
constexpr char target[] = "/api/v2/jobs/J/events";

// The plugin's clock is the fake server's.
portico::testing::loops* time_giver = nullptr;
std::chrono::nanoseconds fake_time() { return std::chrono::hours(1000) + time_giver->now(); }

using settings = std::map<std::string, std::string>;

class stage {
 public:
  explicit stage(const settings& given = {}) {
    time_giver = &s.loops;
    comfy::set_time_source(&fake_time);
    s.provide(COMFY_JOBS, table, this);
    s.load(&portico_query, given);
  }
  ~stage() {
    s.stop();
    comfy::set_time_source(nullptr);
  }

  std::shared_ptr<portico::testing::client> open(bool slow = false, uint32_t loop = 1) {
    portico::testing::request r;
    r.target = target;
    r.slow = slow;
    r.loop = loop;
    const auto c = s.send(r);
    s.run();
    return c;
  }
  // An event for everybody who is subscribed.
  void tell(int32_t kind, const std::string& data) {
    for (comfy_subscription* x : subscriptions) {
      x->queued.emplace_back(kind, data);
      s.loops.post(x->loop, [this, x] { give(x); });
    }
    s.run();
  }
  void cancel_waits() {
    for (comfy_subscription* x : subscriptions) cancel(this, x);
    s.run();
  }
  void wait(std::chrono::milliseconds d) { s.advance(d); }

  portico::testing::server s{2};
  int32_t refusal = PORTICO_OK;
  std::vector<comfy_subscription*> subscriptions;

 private:
  static int32_t PORTICO_CALL subscribe(void* self, portico_str job, portico_str base_url, comfy_subscription** out,
                                        portico_done, void*) {
    auto& t = *static_cast<stage*>(self);
    if (t.refusal) return t.refusal;
    t.subscriptions.push_back(*out = new comfy_subscription);
    (*out)->loop = static_cast<uint32_t>(t.s.loops.current());
    (*out)->job.assign(job.data, job.size);
    (*out)->base_url.assign(base_url.data, base_url.size);
    (*out)->queued.emplace_back(COMFY_EVENT_STATUS, R"({"status":"queued","queue_position":1})");
    return PORTICO_READY;
  }
  static bool take(comfy_subscription* x, comfy_event* out) {
    if (x->queued.empty()) return false;
    out->kind = x->queued.front().first % last;
    out->terminal = x->queued.front().first >= last;
    x->given = x->queued.front().second;
    out->data = {x->given.data(), x->given.size()};
    x->queued.pop_front();
    return true;
  }
  static int32_t PORTICO_CALL next(void*, comfy_subscription* x, comfy_event* out, portico_done done, void* user) {
    if (x->done) return PORTICO_E_STATE;
    if (take(x, out)) return PORTICO_READY;
    x->out = out, x->done = done, x->user = user;
    return PORTICO_OK;
  }
  void give(comfy_subscription* x) {
    if (std::find(subscriptions.begin(), subscriptions.end(), x) == subscriptions.end()) return;
    if (x->done && take(x, x->out)) std::exchange(x->done, nullptr)(x->user, PORTICO_OK);
  }
  static int32_t PORTICO_CALL cancel(void* self, comfy_subscription* x) {
    auto& t = *static_cast<stage*>(self);
    t.s.loops.post(x->loop, [&t, x] {
      if (std::find(t.subscriptions.begin(), t.subscriptions.end(), x) == t.subscriptions.end()) return;
      if (x->done) std::exchange(x->done, nullptr)(x->user, PORTICO_E_CANCELLED);
    });
    return PORTICO_OK;
  }
  static int32_t PORTICO_CALL unsubscribe(void* self, comfy_subscription* x) {
    if (x->done) return PORTICO_E_STATE;
    std::erase(static_cast<stage*>(self)->subscriptions, x);
    delete x;
    return PORTICO_OK;
  }
  static constexpr comfy_jobs table = {sizeof(comfy_jobs), 0, &subscribe, &next, &cancel, &unsubscribe};
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

constexpr char first_frame[] = "event: status\ndata: {\"status\":\"queued\",\"queue_position\":1}\n\n";

}  // namespace

TEST_CASE("the head and the first event come at once, and nothing may hold them up") {
  stage t;
  const auto c = t.open();
  CHECK(c->status == 200);
  CHECK(c->header("content-type") == "text/event-stream");
  CHECK(c->header("cache-control") == "no-cache, no-transform");
  CHECK(c->header("x-accel-buffering") == "no");
  CHECK(c->header("content-encoding").empty());
  CHECK(c->body == first_frame);
  CHECK_FALSE(c->over);
  REQUIRE(t.subscriptions.size() == 1);
  CHECK(t.subscriptions[0]->job == "J");
  CHECK(t.subscriptions[0]->base_url.starts_with("http://"));
  c->disconnect();
  t.s.run();
}

TEST_CASE("each event is a frame, and the stream ends after the last one") {
  stage t;
  const auto c = t.open();
  t.tell(COMFY_EVENT_PROGRESS, "{\"value\":0.5}");
  t.tell(COMFY_EVENT_OUTPUT, "{\"name\":\"a\"}");
  t.tell(COMFY_EVENT_STATUS + last, "{\"status\":\"succeeded\"}");
  CHECK(c->body == std::string(first_frame) +
                       "event: progress\ndata: {\"value\":0.5}\n\nevent: output\ndata: {\"name\":\"a\"}\n\n" +
                       "event: status\ndata: {\"status\":\"succeeded\"}\n\n");
  CHECK(c->over);
  CHECK_FALSE(c->aborted);
  CHECK(t.subscriptions.empty());
}

TEST_CASE("what came of subscribing is told with the contract's codes, before any head") {
  stage t;
  const auto verdict = [&](int32_t code) {
    t.refusal = code;
    const auto c = t.s.get(target);
    return std::to_string(c->status) +
           (c->body.find("\"code\":\"not_found\"") != std::string::npos ? " not_found" : "") +
           (c->body.find("\"code\":\"upstream_unreachable\"") != std::string::npos ? " upstream_unreachable" : "") +
           (c->body.find("\"code\":\"upstream_error\"") != std::string::npos ? " upstream_error" : "");
  };
  CHECK(verdict(PORTICO_E_ABSENT) == "404 not_found");
  CHECK(verdict(PORTICO_E_UNREACHABLE) == "503 upstream_unreachable");
  CHECK(verdict(PORTICO_E_PROTOCOL) == "500 upstream_error");
  t.refusal = PORTICO_OK;
  CHECK(t.open()->status == 200);
  t.tell(COMFY_EVENT_STATUS + last, "{}");
}

TEST_CASE("one stream too many is 429 with a time to come back, and a place is free the moment its client goes") {
  stage t(settings{{"max_streams", "2"}});
  const auto a = t.open(), b = t.open(false, 0);
  const auto refused = t.s.get(target);
  CHECK(refused->status == 429);
  CHECK(refused->header("retry-after") == "5");
  CHECK(refused->body.find("\"too_many_streams\"") != std::string::npos);
  a->disconnect();
  t.s.run();
  const auto c = t.open();
  CHECK(c->status == 200);
  CHECK(t.s.stat("event_streams_open") == 2);
  b->disconnect();
  c->disconnect();
  t.s.run();
  CHECK(t.s.stat("event_streams_open") == 0);
  CHECK(t.subscriptions.empty());
}

TEST_CASE("HEAD takes no place and has the head of the stream") {
  stage t(settings{{"max_streams", "1"}});
  const auto a = t.open();
  portico::testing::request r;
  r.method = "HEAD";
  r.target = target;
  const auto c = t.s.fetch(r);
  CHECK(c->status == 200);
  CHECK(c->header("content-type") == "text/event-stream");
  CHECK(c->body.empty());
  CHECK(t.subscriptions.size() == 1);
  a->disconnect();
  t.s.run();
}

TEST_CASE("a comment comes in every interval, whether or not events do") {
  stage t(settings{{"heartbeat", "100ms"}});
  const auto quiet = t.open();
  t.wait(110ms);
  CHECK(count(quiet->body, ": keepalive\n\n") == 1);
  for (int i = 0; i < 12; ++i) {
    t.tell(COMFY_EVENT_PROGRESS, "{}");
    t.wait(20ms);
  }
  CHECK(count(quiet->body, ": keepalive\n\n") >= 2);
  CHECK(count(quiet->body, "event: progress") == 12);
  quiet->disconnect();
  t.s.run();
}

TEST_CASE("a wait that is cancelled by mistake does not end the stream") {
  stage t;
  const auto c = t.open();
  t.cancel_waits();
  CHECK_FALSE(c->over);
  t.tell(COMFY_EVENT_STATUS + last, "{}");
  CHECK(c->over);
}

TEST_CASE("a client that takes nothing is cut after a while, and its place is free") {
  stage t(settings{{"stuck_after", "150ms"}, {"max_streams", "1"}});
  const auto c = t.open(true);
  const std::string big(400'000, 'x');
  for (int i = 0; i < 4; ++i) t.tell(COMFY_EVENT_PREVIEW, "\"" + big + "\"");
  CHECK_FALSE(c->over);
  t.wait(100ms);
  CHECK_FALSE(c->over);
  t.wait(100ms);
  CHECK(c->over);
  CHECK(c->aborted);
  CHECK(t.open()->status == 200);
  t.tell(COMFY_EVENT_STATUS + last, "{}");
}

TEST_CASE("a client that reads again in time keeps its stream") {
  stage t(settings{{"stuck_after", "150ms"}});
  const auto c = t.open(true);
  for (int i = 0; i < 4; ++i) t.tell(COMFY_EVENT_PREVIEW, "\"" + std::string(400'000, 'x') + "\"");
  t.wait(100ms);
  c->read_again();
  t.s.run();
  t.wait(200ms);
  CHECK_FALSE(c->over);
  t.tell(COMFY_EVENT_STATUS + last, "{}");
  CHECK(c->over);
  CHECK_FALSE(c->aborted);
}

TEST_CASE("when the server stops, a stream ends as a whole one") {
  stage t;
  const auto c = t.open();
  t.s.stop();
  CHECK(c->over);
  CHECK_FALSE(c->aborted);
  CHECK(c->body == first_frame);
}
