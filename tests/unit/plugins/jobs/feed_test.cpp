// The live feed and comfy.jobs/1, by the plugin as a whole.
#include <catch2/catch.hpp>

#include "watcher.hpp"

using fake::at;
using fake::stage;
using fake::watcher;
using portico::testing::reply;

namespace {

constexpr char png_out[] = R"({"9":{"images":[{"filename":"a.png","subfolder":"","type":"output"}]}})";

std::string preview_frame(const std::string& bytes) { return std::string("\0\0\0\1\0\0\0\1", 8) + bytes; }

// Longer than the distance that events of one kind keep.
void pause(stage& t) { t.s.advance(std::chrono::milliseconds(3)); }

}  // namespace

TEST_CASE("the first message of the feed offers previews with descriptions") {
  stage t;
  REQUIRE(t.comfy.feed->received.size() == 1);
  CHECK(t.comfy.feed->received[0] == R"({"type":"feature_flags","data":{"supports_preview_metadata":true}})");
}

TEST_CASE("a job is told from its snapshot to its end, outputs before the last status") {
  stage t;
  const std::string id = t.submit();
  watcher w(t, id);
  CHECK(w.news() == "status queued 1|");
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start", R"("timestamp":1700000000123)");
  CHECK(w.news() == "status running|");
  t.comfy.tell_of(id, "progress_state", R"("nodes":{"3":{"state":"running","value":5,"max":10}})");
  CHECK(w.news() == "progress 0.25|");
  CHECK(at(w.last, "current_node_class") == "KSampler");
  CHECK(at(t.job(id), "progress.value") == "0.25");
  CHECK(at(t.job(id), "started_at") == "2023-11-14T22:13:20.123000Z");
  t.comfy.tell_of(id, "executed", R"("node":"9","output":{"images":[{"filename":"a.png"}]})");
  CHECK(w.news().find("output a.png|") != std::string::npos);
  CHECK(at(t.job(id), "outputs.0.name") == "a.png");
  CHECK(at(t.job(id), "status") == "running");
  t.comfy.finish(id, png_out);
  t.comfy.tell_of(id, "execution_success", R"("timestamp":1700000001456)");
  const std::string end = w.news();
  CHECK(end.find("output") == std::string::npos);  // it was told already
  CHECK(end.find("status succeeded.|") != std::string::npos);
  CHECK(w.over);
  CHECK(t.status(id) == "succeeded");
}

TEST_CASE("outputs that only the history tells of come before the last status") {
  stage t;
  const std::string id = t.submit();
  watcher w(t, id);
  w.news();
  t.comfy.finish(id, png_out);
  t.comfy.tell_of(id, "execution_success");
  CHECK(w.news() == "output a.png|status succeeded.|");
}

TEST_CASE("success is told before the history has it, and the end waits for the history") {
  stage t;
  const std::string id = t.submit();
  watcher w(t, id);
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start");
  t.comfy.tell_of(id, "execution_success");
  t.s.advance(std::chrono::milliseconds(500));
  CHECK(w.news().find("succeeded") == std::string::npos);
  t.comfy.finish(id, png_out);
  t.comfy.tell("executing", R"({"node":null,"prompt_id":")" + id + "\"}");
  t.s.advance(std::chrono::seconds(2));
  CHECK(w.news() == "output a.png|status succeeded.|");
}

TEST_CASE("every viewer is told everything, on its own loop, and one that leaves disturbs nobody") {
  stage t;
  const std::string id = t.submit();
  watcher a(t, id, 0);
  auto b = std::make_unique<watcher>(t, id, 1);
  CHECK(a.news() == "status queued 1|");
  CHECK(b->news() == "status queued 1|");
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start");
  b.reset();
  watcher c(t, id, 1);
  CHECK(c.news() == "status running|progress 0|");
  t.comfy.tell_of(id, "progress_state", R"("nodes":{"3":{"state":"finished"}})");
  CHECK(a.news() == "status running|progress 0.5|");
  CHECK(c.news() == "progress 0.5|");
  t.comfy.finish(id, png_out);
  t.comfy.tell_of(id, "execution_success");
  CHECK(a.news() == "output a.png|status succeeded.|");
  CHECK(c.news() == "output a.png|status succeeded.|");
  CHECK(t.comfy.connects == 1);
}

TEST_CASE("a viewer of an ended job gets its outputs and its status, and ComfyUI is not asked") {
  stage t;
  const std::string id = t.submit();
  t.comfy.finish(id, png_out);
  t.grow_stale();
  t.job(id);
  const std::size_t calls = t.s.calls.size();
  watcher w(t, id);
  CHECK(w.news() == "output a.png|status succeeded.|");
  CHECK(w.over);
  CHECK(t.s.calls.size() == calls);
}

TEST_CASE("previews go to the prompt that runs, or to the one they name") {
  stage t;
  const std::string a = t.submit(), b = t.submit();
  watcher wa(t, a), wb(t, b);
  t.comfy.tell("executing", R"({"node":"3"})");  // nothing runs yet, as far as was told
  t.comfy.start(a);
  t.comfy.tell_of(a, "execution_start");
  wa.news(), wb.news();
  t.s.loops.inside(0, [&] { t.comfy.feed->send(preview_frame("foo"), true); });
  CHECK(wa.news() == "preview Zm9v|");
  CHECK(wb.news().empty());
  const std::string named = R"({"image_type":"image/png","node_id":"3","prompt_id":")" + b + "\"}";
  std::string frame("\0\0\0\4\0\0\0", 7);
  frame += static_cast<char>(named.size());
  pause(t);
  t.s.loops.inside(0, [&] { t.comfy.feed->send(frame + named + "bar", true); });
  CHECK(wb.news() == "preview YmFy|");
  CHECK(at(wb.last, "content_type") == "image/png");
  CHECK(wa.news().empty());
  watcher late(t, a);
  CHECK(late.news().find("preview Zm9v|") != std::string::npos);
}

TEST_CASE("frames of any shape leave the feed alive") {
  stage t;
  const std::string id = t.submit();
  watcher w(t, id);
  w.news();
  for (const char* text : {"[1]", "42", "null", "{", "", R"({"type":"progress","data":[]})",
                           R"({"type":"progress_state","data":{"nodes":[]}})", R"({"type":"executed","data":null})",
                           R"({"type":"execution_start"})", R"({"type":5})"})
    t.s.loops.inside(0, [&] { t.comfy.feed->send(text); });
  t.s.run();
  t.comfy.tell_of(id, "progress", R"("value":null,"max":"x")");
  t.comfy.tell_of(id, "progress_state", R"("nodes":[1])");
  t.comfy.tell_of(id, "executed", R"("node":[],"output":{"images":[{"filename":null}]})");
  for (const std::string& frame : {std::string(""), std::string("\0\0\0\4\0\0\0\xFF", 8), std::string(5, '\0')})
    t.s.loops.inside(0, [&] { t.comfy.feed->send(frame, true); });
  t.s.run();
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start");
  CHECK(w.news().find("status running|") != std::string::npos);
  CHECK(t.comfy.connects == 1);
}

TEST_CASE("places in the queue are told as they change") {
  stage t;
  const std::string a = t.submit(), b = t.submit();
  watcher w(t, b);
  CHECK(w.news() == "status queued 2|");
  t.comfy.start(a);
  t.comfy.tell("status", R"({"status":{"exec_info":{"queue_remaining":2}}})");
  CHECK(w.news() == "status queued 1|");
}

TEST_CASE("without a feed a watched job is polled to its true end") {
  stage t(false);
  const std::string id = t.submit();
  watcher w(t, id);
  CHECK(w.news() == "status queued 1|");
  t.comfy.start(id);
  t.grow_stale();
  t.s.advance(std::chrono::seconds(1));
  CHECK(w.news().find("status running|") != std::string::npos);
  t.comfy.finish(id, png_out);
  t.grow_stale();
  t.s.advance(std::chrono::seconds(1));
  CHECK(w.news() == "output a.png|status succeeded.|");
}

TEST_CASE("a watched job that ComfyUI forgets ends as expired") {
  stage t(false);
  const std::string id = t.submit();
  watcher w(t, id);
  w.news();
  t.comfy.pending.clear();
  t.grow_stale();
  t.s.advance(std::chrono::seconds(1));
  CHECK(w.news() == "status expired.|");
  CHECK(w.over);
}

TEST_CASE("a watcher stays while ComfyUI is away, and goes on when it is back") {
  stage t(false);
  const std::string id = t.submit();
  watcher w(t, id);
  w.news();
  reply down;
  down.refuses = true;
  t.comfy.instead["/queue"] = t.comfy.instead["/history"] = down;
  t.grow_stale();
  t.s.advance(std::chrono::seconds(60));
  CHECK(w.news().empty());
  t.comfy.instead.clear();
  t.comfy.finish(id, png_out);
  t.s.advance(std::chrono::seconds(2));
  CHECK(w.news() == "output a.png|status succeeded.|");
}

TEST_CASE("who asks for no job, or when ComfyUI is away, is told at once") {
  stage t(false);
  CHECK(watcher(t, "x").status == PORTICO_E_ABSENT);
  CHECK(watcher(t, "11111111-2222-4333-8444-555555555555").status == PORTICO_E_ABSENT);
  const std::string id = t.submit();
  t.comfy.instead["/queue"] = reply::text(200, "<html>");
  CHECK(watcher(t, id).status == PORTICO_E_PROTOCOL);
  reply down;
  down.refuses = true;
  t.comfy.instead["/queue"] = down;
  CHECK(watcher(t, id).status == PORTICO_E_UNREACHABLE);
}

TEST_CASE("a job of somebody else can be watched by polling") {
  stage t;
  const std::string id = "11111111-2222-4333-8444-555555555555";
  t.comfy.running = id;
  watcher w(t, id);
  CHECK(w.news().find("status running|") == 0);
  t.comfy.finish(id, png_out);
  t.grow_stale();
  t.s.advance(std::chrono::seconds(3));
  CHECK(w.news() == "output a.png|status succeeded.|");
}

TEST_CASE("cancelling is told to who watches") {
  stage t;
  const std::string id = t.submit();
  watcher w(t, id);
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start");
  w.news();
  t.s.post("/api/v2/jobs/" + id + "/cancel", "");
  CHECK(w.news() == "status canceling|");
  t.comfy.finish(id, "{}", R"({"status_str":"error","messages":[["execution_interrupted",{}]]})");
  t.comfy.tell_of(id, "execution_interrupted");
  CHECK(w.news() == "status canceled.|");
}

TEST_CASE("progress is told at most once in an interval, and the last of it before the end") {
  stage t(true, {{"event_interval", "5s"}});
  const std::string id = t.submit();
  watcher w(t, id);
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start");
  w.news();
  const auto step = [&](int i) {
    t.comfy.tell_of(id, "progress_state",
                    R"("nodes":{"3":{"state":"running","value":)" + std::to_string(i) + R"(,"max":20}})");
  };
  step(1);
  CHECK(w.news() == "progress 0.025|");
  for (int i = 2; i <= 20; ++i) step(i);
  CHECK(w.news().empty());
  CHECK(at(t.job(id), "progress.value") == "0.5");
  t.comfy.finish(id, png_out);
  t.comfy.tell_of(id, "execution_success");
  CHECK(w.news() == "progress 0.5|output a.png|status succeeded.|");
}

TEST_CASE("a slow taker keeps one progress and one preview, and every status and output") {
  stage t;
  const std::string id = t.submit();
  void* self = nullptr;
  const comfy_jobs& jobs = t.s.service<comfy_jobs>(COMFY_JOBS, &self);
  comfy_subscription* s = nullptr;
  int32_t rc = PORTICO_OK;
  const auto done = [](void* user, int32_t status) {
    *static_cast<int32_t*>(user) = status == PORTICO_OK ? PORTICO_READY : status;
  };
  t.s.loops.inside(1,
                   [&] { rc = jobs.subscribe(self, portico::to_abi(id), portico::to_abi("http://h"), &s, done, &rc); });
  REQUIRE(t.s.run_until([&] { return rc != PORTICO_OK; }, std::chrono::seconds(5)));
  t.comfy.start(id);
  t.comfy.tell_of(id, "execution_start");
  for (int i = 1; i <= 5; ++i) {
    pause(t);
    t.comfy.tell_of(id, "progress_state",
                    R"("nodes":{"3":{"state":"running","value":)" + std::to_string(i) + R"(,"max":10}})");
    t.s.loops.inside(0, [&] { t.comfy.feed->send(preview_frame(std::to_string(i)), true); });
    t.comfy.tell_of(id, "executed",
                    R"("node":"9","output":{"images":[{"filename":")" + std::to_string(i) + R"(.png"}]})");
  }
  t.comfy.finish(id);
  t.comfy.tell_of(id, "execution_success");
  t.s.advance(std::chrono::seconds(1));
  std::string kinds;
  comfy_event e{};
  e.struct_size = sizeof e;
  t.s.loops.inside(1, [&] {
    while (jobs.next(self, s, &e, done, &rc) == PORTICO_READY) kinds += static_cast<char>('0' + e.kind);
    jobs.unsubscribe(self, s);
  });
  t.s.run();
  CHECK(std::count(kinds.begin(), kinds.end(), '1') == 1);
  CHECK(std::count(kinds.begin(), kinds.end(), '2') == 1);
  CHECK(std::count(kinds.begin(), kinds.end(), '3') == 5);
  CHECK(std::count(kinds.begin(), kinds.end(), '0') == 3);  // queued, running, succeeded
  CHECK(kinds.back() == '0');
  CHECK(e.terminal == 1);
}
