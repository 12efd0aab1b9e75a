// Event streams as clients read them.
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "event_reader.hpp"
#include "relay.hpp"
#include "stage.hpp"

using namespace e2e;
using clock_type = std::chrono::steady_clock;

namespace {

const std::string with_events = "[plugins]\nenabled = health, uploads, jobs, events\n";

std::string events_keys(const std::string& keys) { return with_events + "[plugin.events]\n" + keys + "\n"; }

long long ms(clock_type::duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); }

bool feed_open(const stage& s) {
  return eventually([&] { return at(s.counters(), "websockets.open") == "1"; });
}

std::string last_status(const std::vector<stream_event>& events) {
  return events.empty() || events.back().name != "status" ? "none" : at(events.back().data, "status");
}

}  // namespace

TEST_CASE("a stream tells a job from its first state to its last, outputs before the end") {
  const stage s(with_events);
  REQUIRE(feed_open(s));
  s.knobs("{\"step_delay_ms\":60}");
  const std::string id = s.submitted(sampling_graph(15));
  event_reader r(s.port(), id);
  CHECK(r.status() == 200);
  const auto events = r.rest();
  CHECK(r.ended_whole());
  CHECK(events.front().name == "status");
  CHECK(last_status(events) == "succeeded");
  double last = -1;
  int outputs = 0, previews = 0, progress = 0;
  for (const stream_event& e : events) {
    if (e.name == "output") {
      ++outputs;
      CHECK(at(e.data, "node_id") == "9");
      CHECK(at(e.data, "url").find("http://127.0.0.1:" + std::to_string(s.port()) + "/api/v2/assets/") == 0);
      CHECK(at(e.data, "job_id") == id);
    }
    if (e.name == "preview") {
      ++previews;
      CHECK(at(e.data, "content_type").find("image/") == 0);
      CHECK(at(e.data, "data_base64").size() > 10);
    }
    if (e.name == "progress") {
      ++progress;
      const double value = std::stod(at(e.data, "value"));
      CHECK(value >= last);
      CHECK(value <= 1);
      last = value;
    }
  }
  CHECK(outputs == 1);
  CHECK(previews >= 1);
  CHECK(progress >= 2);
}

TEST_CASE("a stream of an ended job has its outputs and its last status, and ends") {
  const stage s(with_events);
  const std::string id = at(s.done(quick_graph()).body, "id");
  event_reader r(s.port(), id);
  CHECK(story(r.rest(5s)) == "output|status succeeded|");
  CHECK(r.ended_whole());
}

TEST_CASE("head and first status come at once, each event when its cause does, and nothing is compressed") {
  const stage s(with_events);
  REQUIRE(feed_open(s));
  s.knobs("{\"step_delay_ms\":600,\"previews\":false}");
  const std::string id = s.submitted(sampling_graph(5));
  event_reader r(s.port(), id, {{"Accept-Encoding", "gzip, br"}, {"Accept", "application/json"}});
  const stream_event first = r.next("status");
  CHECK(ms(first.at - r.asked_at()) < 200 * slowness);
  CHECK(r.head().find("content-type: text/event-stream") != std::string::npos);
  CHECK(r.head().find("cache-control: no-cache, no-transform") != std::string::npos);
  CHECK(r.head().find("connection: keep-alive") != std::string::npos);
  CHECK(r.head().find("x-accel-buffering: no") != std::string::npos);
  CHECK(r.head().find("content-encoding") == std::string::npos);
  // Steps are 600 ms apart, which is more than events keep between them: each shows as it happens.
  std::vector<clock_type::time_point> steps;
  std::string step;
  for (const stream_event& e : r.rest(20s)) {
    if (e.name != "progress" || at(e.data, "step") == step || at(e.data, "current_node") != "3") continue;
    step = at(e.data, "step");
    steps.push_back(e.at);
  }
  REQUIRE(steps.size() >= 4);
  for (std::size_t i = steps.size() - 2; i < steps.size(); ++i)
    CHECK(std::abs(ms(steps[i] - steps[i - 1]) - 600) < 100 * slowness);
}

TEST_CASE("under HTTP/1.0 there are no chunks, and the end is the connection's") {
  const stage s(with_events);
  const std::string id = at(s.done(quick_graph()).body, "id");
  event_reader r(s.port(), id, {}, "1.0");
  CHECK(r.head().find("transfer-encoding") == std::string::npos);
  CHECK(story(r.rest(5s)) == "output|status succeeded|");
}

TEST_CASE("HEAD of a stream is its head, and takes no place") {
  const stage s(events_keys("max_streams = 1"));
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  event_reader open(s.port(), id);
  open.next("status");
  for (int i = 0; i < 3; ++i) {
    const answer a = request(s.port(), "HEAD", "/api/v2/jobs/" + id + "/events");
    CHECK(a.status == 200);
    CHECK(a.header("content-type") == "text/event-stream");
  }
  s.knobs("{\"hang\":false}");
  CHECK(last_status(open.rest()) == "succeeded");
}

TEST_CASE("a text with line ends cannot forge an event") {
  const stage s(with_events);
  REQUIRE(feed_open(s));
  const std::string text =
      "a\rdata: {}\r\revent: status\rdata: {\"status\":\"succeeded\"}\n\n\xE2\x80\xA8"
      "end";
  s.knobs("{\"fail_node\":\"KSampler\",\"error_text\":" + quoted(text) + ",\"step_delay_ms\":100}");
  const std::string id = s.submitted(sampling_graph());
  event_reader r(s.port(), id);
  const auto events = r.rest();
  CHECK(last_status(events) == "failed");
  int terminal = 0;
  for (const stream_event& e : events)
    if (e.name == "status" && (at(e.data, "status") == "failed" || at(e.data, "status") == "succeeded")) ++terminal;
  CHECK(terminal == 1);
  CHECK(r.raw().find('\r') == std::string::npos);
  CHECK(at(s.job(id).body, "error.message") == text);
}

TEST_CASE("a comment comes in every interval, in silence and in traffic") {
  const stage s(events_keys("heartbeat = 200ms"));
  REQUIRE(feed_open(s));
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  event_reader r(s.port(), id);
  int comments = 0;
  const auto begun = clock_type::now();
  auto before = begun;
  while (clock_type::now() - begun < 2s) {
    const stream_event e = r.next(2s);
    if (e.name != ":") continue;
    ++comments;
    CHECK(ms(e.at - before) < 400 * slowness);
    before = e.at;
  }
  CHECK(comments >= 5);
  s.knobs("{\"hang\":false,\"step_delay_ms\":20}");
  CHECK(last_status(r.rest()) == "succeeded");
}

TEST_CASE("a client that takes nothing is cut, memory stays flat, and its place is free") {
  const stage s(events_keys("stuck_after = 1s\nmax_streams = 1"));
  REQUIRE(feed_open(s));
  s.knobs("{\"preview_bytes\":1000000,\"step_delay_ms\":100}");
  const std::string id = s.submitted(sampling_graph(150));
  const std::size_t before = s.portico.resident_kb();
  event_reader stuck(s.port(), id, {}, "1.1", 4096);
  CHECK(s.get("/api/v2/jobs/" + id + "/events").status == 429);
  std::unique_ptr<event_reader> next;
  CHECK(eventually(
      [&] {
        next = std::make_unique<event_reader>(s.port(), id);
        return next->status() == 200;
      },
      14s));
  if (slowness == 1) CHECK(s.portico.resident_kb() < before + 40'000);
}

TEST_CASE("one stream too many is 429 and told when to come back; a place is free when its client has gone") {
  const stage s(events_keys("max_streams = 2"));
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  event_reader a(s.port(), id), b(s.port(), id);
  a.next("status"), b.next("status");
  const answer refused = s.get("/api/v2/jobs/" + id + "/events");
  CHECK(refused.status == 429);
  CHECK(refused.header("retry-after") == "5");
  CHECK(at(refused.body, "error.code") == "too_many_streams");
  a.reset();
  const auto gone = clock_type::now();
  CHECK(eventually([&] { return event_reader(s.port(), id).status() == 200; }, 2s));
  CHECK(ms(clock_type::now() - gone) < 500 * slowness);
  CHECK(s.post("/api/v2/jobs/" + id + "/cancel").status == 200);
  CHECK(last_status(b.rest()) == "canceled");
}

TEST_CASE("viewers that come and go each see the whole, and disturb nobody") {
  const stage s(with_events);
  REQUIRE(feed_open(s));
  s.knobs("{\"step_delay_ms\":80}");
  const std::string id = s.submitted(sampling_graph(25));
  event_reader a(s.port(), id);
  a.next("progress");
  auto b = std::make_unique<event_reader>(s.port(), id);
  b->next("progress");
  b->next("preview");
  b->reset();
  event_reader c(s.port(), id);
  const auto of_a = a.rest(), of_c = c.rest();
  for (const auto* events : {&of_a, &of_c}) {
    CHECK(last_status(*events) == "succeeded");
    const std::string told = story(*events);
    CHECK(told.find("progress|") != std::string::npos);
    CHECK(told.find("output|") != std::string::npos);
    CHECK(told.find("status succeeded|") == told.size() - 17);
  }
  CHECK(story(of_c).find("status running|") == 0);
  CHECK(at(s.counters(), "websockets.opened") == "1");
}

TEST_CASE("a cancel is seen by who watches, for a job that runs and one that waits") {
  const stage s(with_events);
  REQUIRE(feed_open(s));
  s.knobs("{\"hang\":true}");
  const std::string running = s.submitted(sampling_graph(3, 1)), waiting = s.submitted(sampling_graph(3, 2));
  event_reader a(s.port(), running), b(s.port(), waiting);
  CHECK(at(b.next("status").data, "queue_position") == "1");
  CHECK(s.post("/api/v2/jobs/" + waiting + "/cancel").status == 200);
  CHECK(last_status(b.rest()) == "canceled");
  CHECK(s.post("/api/v2/jobs/" + running + "/cancel").status == 200);
  CHECK(last_status(a.rest()) == "canceled");
}

TEST_CASE("a waiting job's place moves up as others end") {
  const stage s(with_events);
  REQUIRE(feed_open(s));
  s.knobs("{\"hang\":true}");
  s.submitted(sampling_graph(3, 1));
  const std::string second = s.submitted(sampling_graph(3, 2)), third = s.submitted(sampling_graph(3, 3));
  event_reader r(s.port(), third);
  CHECK(at(r.next("status").data, "queue_position") == "2");
  CHECK(s.post("/api/v2/jobs/" + second + "/cancel").status == 200);
  CHECK(at(r.next("status", 3s).data, "queue_position") == "1");
  s.knobs("{\"hang\":false}");
  CHECK(last_status(r.rest()) == "succeeded");
}

TEST_CASE("a job that ComfyUI has forgotten ends its stream as expired") {
  const stage s(with_events);
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  event_reader r(s.port(), id);
  r.next("status");
  CHECK(post(s.standin.port(), "/standin/restart", "").status == 204);
  CHECK(last_status(r.rest(15s)) == "expired");
  CHECK(r.ended_whole());
}

TEST_CASE("no job is 404, and a ComfyUI that is away 503, before any head of a stream") {
  const stage s(with_events);
  CHECK(s.get("/api/v2/jobs/..%2F..%2Ffree/events").status == 404);
  CHECK(s.get("/api/v2/jobs/11111111-2222-4333-8444-555555555555/events").status == 404);
  const stage dead(with_events, "http://127.0.0.1:" + std::to_string(dead_port()));
  const answer a = dead.get("/api/v2/jobs/11111111-2222-4333-8444-555555555555/events");
  CHECK(a.status == 503);
  CHECK(at(a.body, "error.code") == "upstream_unreachable");
}

TEST_CASE("a feed that is deaf delays the end of a stream by three seconds at most") {
  const process standin(
      "standin",
      "[server]\nthreads = 1\n[plugins]\nenabled = comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 20ms\n");
  relay between(standin.port(), [](const std::string& head) {
    return head.compare(0, 7, "GET /ws") == 0 ? relay::deed::deaf : relay::deed::pass;
  });
  const process portico("portico",
                        "[server]\nthreads = 2\n" + with_events + "[upstream.comfyui]\nurl = " + between.url() + "\n");
  REQUIRE(eventually([&] { return between.sockets_opened() >= 1; }));
  const answer a = post(portico.port(), "/api/v2/jobs", "{\"workflow\":" + sampling_graph(10) + "}");
  const std::string id = at(a.body, "id");
  event_reader r(portico.port(), id);
  REQUIRE(eventually([&] { return get(standin.port(), "/history/" + id).body.size() > 2; }));
  const auto ended = clock_type::now();
  const auto events = r.rest(10s);
  CHECK(last_status(events) == "succeeded");
  CHECK(story(events).find("output|status succeeded|") != std::string::npos);
  CHECK(ms(events.back().at - ended) < 3200 * slowness);
}

TEST_CASE("a stream outlives a ComfyUI that goes away and comes back with the job done") {
  const process standin(
      "standin",
      "[server]\nthreads = 1\n[plugins]\nenabled = comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 60ms\n");
  relay between(standin.port(), [](const std::string&) { return relay::deed::pass; });
  const process portico("portico", "[server]\nthreads = 2\n" + events_keys("heartbeat = 300ms") +
                                       "[upstream.comfyui]\nurl = " + between.url() + "\n");
  REQUIRE(eventually([&] { return between.sockets_opened() >= 1; }));
  const std::string id =
      at(post(portico.port(), "/api/v2/jobs", "{\"workflow\":" + sampling_graph(20) + "}").body, "id");
  event_reader r(portico.port(), id);
  r.next("status");
  between.behave([](const std::string&) { return relay::deed::hang_up; });
  REQUIRE(eventually([&] { return get(standin.port(), "/history/" + id).body.size() > 2; }));
  CHECK(r.next(":", 3s).name == ":");
  between.behave([](const std::string&) { return relay::deed::pass; });
  CHECK(last_status(r.rest(15s)) == "succeeded");
}

TEST_CASE("open streams are told and ended when the server stops, in time") {
  stage s(with_events);
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  event_reader a(s.port(), id), b(s.port(), id), c(s.port(), id), d(s.port(), id);
  for (event_reader* r : {&a, &b, &c, &d}) r->next("status");
  const auto begun = clock_type::now();
  s.portico.stop();
  CHECK(ms(clock_type::now() - begun) < 5000);
  for (event_reader* r : {&a, &b, &c, &d}) {
    r->rest(1s);
    CHECK(r->ended_whole());
  }
}
