// Submitting, asking, listing and cancelling, by the plugin as a whole.
#include <catch2/catch.hpp>

#include "stage.hpp"

using fake::at;
using fake::body_with;
using fake::stage;
using portico::testing::reply;

namespace {

constexpr char unknown_id[] = "11111111-2222-4333-8444-555555555555";

}  // namespace

TEST_CASE("a job is submitted under its own id and the one client id, with its graph as it was written") {
  stage t;
  const auto c = t.s.post("/api/v2/jobs",
                          "{ \"workflow\" : {\"1\":{\"class_type\":\"X\",\"inputs\":{\"a\":1.50}}} ,\"priority\":7}");
  REQUIRE(c->status == 201);
  CHECK(at(c->body, "status") == "queued");
  CHECK(at(c->body, "priority") == "7");
  const std::string id = at(c->body, "id");
  CHECK(at(t.comfy.last_prompt, "prompt_id") == id);
  CHECK(at(t.comfy.last_prompt, "prompt") == R"({"1":{"class_type":"X","inputs":{"a":1.50}}})");
  CHECK(t.comfy.feed->url == "ws://comfy:1/ws?clientId=" + at(t.comfy.last_prompt, "client_id"));
  CHECK(at(t.comfy.last_prompt, "extra_data").empty());
  CHECK(at(t.comfy.last_prompt, "front").empty());
  CHECK(at(t.comfy.last_prompt, "priority").empty());
  CHECK(t.s.stat("jobs_submitted_total") == 1);
}

TEST_CASE("the partner key goes to ComfyUI and nowhere else") {
  stage t;
  const std::string id = t.submit(R"(,"extra_data":{"api_key_comfy_org":"SECRET-1"})");
  CHECK(at(t.comfy.last_prompt, "extra_data") == R"({"api_key_comfy_org":"SECRET-1"})");
  const auto c = t.s.get("/api/v2/jobs/" + id + "/workflow");
  CHECK(c->body == std::string("{\"workflow\":") + fake::graph + ",\"format\":\"api\"}");
  CHECK(t.job(id).find("SECRET") == std::string::npos);
  for (const auto& line : t.s.log) CHECK(line.text.find("SECRET") == std::string::npos);
}

TEST_CASE("without the assets service every reference is missing, and nothing is sent") {
  stage t;
  const auto c =
      t.s.post("/api/v2/jobs",
               R"({"workflow":{"1":{"a":{"__type":"core/ASSET","info":{"id":"A"}},"b":{"__type":"core/ASSET"}}}})",
               {{"idempotency-key", "k"}});
  CHECK(c->status == 422);
  CHECK(at(c->body, "error.code") == "missing_asset");
  CHECK(at(c->body, "error.details.missing_ids") == R"(["A","<malformed core/ASSET: missing info>"])");
  CHECK(t.comfy.calls("/prompt") == 0);
  CHECK(t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "k"}})->status == 201);
}

TEST_CASE("a key is used up by a submission, given back by a refusal, and untouched by earlier faults") {
  stage t;
  const portico::testing::fields key = {{"idempotency-key", "K"}};
  CHECK(t.s.post("/api/v2/jobs", "[]", key)->status == 400);
  CHECK(t.s.post("/api/v2/jobs", R"({"workflow":{"nodes":[],"links":[]}})", key)->status == 422);
  t.comfy.instead["/prompt"] = reply::json(400, R"({"error":{"message":"no outputs"},"node_errors":{"3":{}}})");
  const auto refused = t.s.post("/api/v2/jobs", body_with(), key);
  CHECK(refused->status == 422);
  CHECK(at(refused->body, "error.code") == "invalid_workflow");
  CHECK(at(refused->body, "error.details.node_errors") == R"({"3":{}})");
  CHECK(at(t.s.get("/api/v2/jobs")->body, "jobs") == "[]");
  t.comfy.instead.clear();
  CHECK(t.s.post("/api/v2/jobs", body_with(), key)->status == 201);
  const auto again = t.s.post("/api/v2/jobs", body_with(), key);
  CHECK(again->status == 422);
  CHECK(at(again->body, "error.code") == "idempotency_key_reuse");
  CHECK(t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "other"}})->status == 201);
  CHECK(t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", ""}})->status == 400);
}

TEST_CASE("of twenty submissions at once with one key one is taken") {
  stage t;
  std::vector<std::shared_ptr<portico::testing::client>> all;
  for (uint32_t i = 0; i < 20; ++i) {
    portico::testing::request r;
    r.method = "POST";
    r.target = "/api/v2/jobs";
    r.body = body_with();
    r.headers = {{"idempotency-key", "one"}};
    r.loop = i;
    all.push_back(t.s.send(r));
  }
  t.s.run_until([&] { return std::all_of(all.begin(), all.end(), [](const auto& c) { return c->over; }); });
  CHECK(std::count_if(all.begin(), all.end(), [](const auto& c) { return c->status == 201; }) == 1);
  CHECK(std::count_if(all.begin(), all.end(), [](const auto& c) { return c->status == 422; }) == 19);
  CHECK(t.comfy.calls("/prompt") == 1);
}

TEST_CASE("a ComfyUI that cannot be reached is 503; the key stays claimed and no job is remembered") {
  stage t;
  reply down;
  down.refuses = true;
  t.comfy.instead["/prompt"] = down;
  const auto c = t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "K"}});
  CHECK(c->status == 503);
  CHECK(at(c->body, "error.code") == "upstream_unreachable");
  t.comfy.instead.clear();
  CHECK(at(t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "K"}})->body, "error.code") ==
        "idempotency_key_reuse");
  CHECK(at(t.s.get("/api/v2/jobs")->body, "jobs") == "[]");
}

TEST_CASE("an answer that is lost leaves the key claimed, and a job that shows what became of it") {
  std::vector<reply> outcomes = {reply{}, reply{}, reply::json(500, "{}"), reply::text(502, "<html>"),
                                 reply::text(302, "")};
  outcomes[0].breaks_after = 0;
  outcomes[1].never = true;
  const int which = GENERATE(0, 1, 2, 3, 4);
  stage t;
  t.comfy.instead["/prompt"] = outcomes[static_cast<std::size_t>(which)];
  const auto c = t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "K"}});
  CHECK((c->status == 503 || c->status == 500));
  const std::string code = at(c->body, "error.code");
  CHECK((code == "upstream_unreachable" || code == "upstream_error"));
  CHECK(at(t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "K"}})->body, "error.code") ==
        "idempotency_key_reuse");
  const auto list = t.s.get("/api/v2/jobs");
  CHECK(list->status == 200);
  const std::string id = at(list->body, "jobs.0.id");
  CHECK(at(list->body, "jobs.0.status") == "queued");
  CHECK(at(list->body, "jobs.0.queue_position") == "null");
  t.comfy.finish(id);
  t.grow_stale();
  CHECK(t.status(id) == "succeeded");
}

TEST_CASE("ComfyUI is told within 25 seconds or the client is") {
  stage t;
  reply silent;
  silent.never = true;
  t.comfy.instead["/prompt"] = silent;
  const auto before = t.s.loops.now();
  CHECK(t.s.post("/api/v2/jobs", body_with())->status == 503);
  CHECK(t.s.loops.now() - before >= std::chrono::seconds(24));
  CHECK(t.s.loops.now() - before <= std::chrono::seconds(26));
}

TEST_CASE("a job waits at its place, runs, and succeeds with its outputs") {
  stage t;
  const std::string other = t.submit(), id = t.submit();
  CHECK(at(t.job(id), "status") == "queued");
  CHECK(at(t.job(id), "queue_position") == "2");
  t.comfy.finish(other);
  t.comfy.start(id);
  t.grow_stale();
  CHECK(t.status(id) == "running");
  CHECK(at(t.job(id), "progress.nodes_total") == "2");
  t.comfy.finish(id, R"({"9":{"images":[{"filename":"a.png","subfolder":"","type":"output"}]}})");
  t.grow_stale();
  const std::string done = t.job(id);
  CHECK(at(done, "status") == "succeeded");
  CHECK(at(done, "outputs.0.name") == "a.png");
  CHECK(at(done, "outputs.0.node_id") == "9");
  CHECK(at(done, "outputs.0.job_id") == id);
  CHECK(at(done, "outputs.0.url").find("/api/v2/assets/" + at(done, "outputs.0.id") + "/content") != std::string::npos);
  CHECK(at(done, "progress") == "null");
}

TEST_CASE("an ended job is answered without asking ComfyUI, also when that has gone") {
  stage t;
  const std::string id = t.submit();
  t.comfy.finish(id);
  t.grow_stale();
  CHECK(t.status(id) == "succeeded");
  const std::size_t calls = t.s.calls.size();
  reply down;
  down.refuses = true;
  t.comfy.instead["/queue"] = t.comfy.instead["/history"] = down;
  CHECK(t.status(id) == "succeeded");
  t.s.post("/api/v2/jobs/" + id + "/cancel", "");
  CHECK(t.s.calls.size() == calls);
  CHECK(t.s.get("/api/v2/jobs?status=succeeded")->status == 200);
}

TEST_CASE("one answer of ComfyUI serves all readers for a quarter of a second") {
  stage t;
  const std::string a = t.submit(), b = t.submit();
  const int before = t.comfy.calls("/queue");
  for (int i = 0; i < 10; ++i) CHECK(t.status(i % 2 ? a : b) == "queued");
  CHECK(t.comfy.calls("/queue") - before == 1);
  CHECK(t.comfy.calls("/history") == 0);
  t.grow_stale();
  t.status(a);
  CHECK(t.comfy.calls("/queue") - before == 2);
}

TEST_CASE("a job that is in no queue and no history is expired, and is asked after again each time") {
  stage t;
  const std::string id = t.submit();
  t.comfy.pending.clear();
  t.grow_stale();
  CHECK(t.status(id) == "expired");
  CHECK(t.comfy.calls("/history") == 2);  // it was looked for twice
  CHECK(at(t.s.post("/api/v2/jobs/" + id + "/cancel", "")->body, "status") == "expired");
  CHECK(at(t.s.get("/api/v2/jobs?status=expired")->body, "jobs.0.id") == id);
  t.comfy.finish(id);
  CHECK(t.status(id) == "succeeded");
}

TEST_CASE("a job that ends between the first look and the second is not expired") {
  stage t;
  const std::string id = t.submit();
  t.comfy.pending.clear();
  t.comfy.on_first_look = [&] { t.comfy.finish(id); };
  t.grow_stale();
  CHECK(t.status(id) == "succeeded");
}

TEST_CASE("ids that are none are 404 without a call, and an unknown one is asked after once") {
  stage t;
  const std::size_t calls = t.s.calls.size();
  for (const char* id : {"x", "..%2F..%2Ffree", "%2e%2e%2fqueue", "11111111-2222-4333-8444-55555555555A",
                         "{11111111-2222-4333-8444-555555555555}"})
    for (const char* rest : {"", "/workflow"}) {
      const auto c = t.s.get(std::string("/api/v2/jobs/") + id + rest);
      CHECK(c->status == 404);
      CHECK(at(c->body, "error.code") == "not_found");
    }
  CHECK(t.s.post("/api/v2/jobs/x/cancel", "")->status == 404);
  CHECK(t.s.get(std::string("/api/v2/jobs/") + unknown_id + "/workflow")->status == 404);
  CHECK(t.s.calls.size() == calls);
  CHECK(t.s.get(std::string("/api/v2/jobs/") + unknown_id)->status == 404);
  CHECK(t.s.post(std::string("/api/v2/jobs/") + unknown_id + "/cancel", "")->status == 404);
}

TEST_CASE("a job of somebody else is answered for as long as ComfyUI knows it") {
  stage t;
  t.comfy.running = unknown_id;
  CHECK(t.status(unknown_id) == "running");
  t.grow_stale();
  t.comfy.finish(unknown_id, R"({"9":{"images":[{"filename":"a.png"}]}})");
  CHECK(at(t.job(unknown_id), "outputs.0.name") == "a.png");
  CHECK(at(t.s.get("/api/v2/jobs")->body, "jobs") == "[]");
}

TEST_CASE("a waiting job that is cancelled is canceled, although ComfyUI keeps no trace of it") {
  for (const bool modern : {true, false}) {
    stage t;
    t.comfy.knows_cancel = modern;
    const std::string id = t.submit();
    const auto c = t.s.post("/api/v2/jobs/" + id + "/cancel", "");
    CHECK(c->status == 200);
    CHECK(at(c->body, "status") == "canceled");
    CHECK(t.status(id) == "canceled");
    CHECK(t.comfy.deleted.size() == (modern ? 0 : 1));
    CHECK(t.comfy.interrupted.empty());
  }
}

TEST_CASE("a running job that is cancelled is canceling until it has ended") {
  for (const bool modern : {true, false}) {
    stage t;
    t.comfy.knows_cancel = modern;
    const std::string id = t.submit();
    t.comfy.start(id);
    CHECK(at(t.s.post("/api/v2/jobs/" + id + "/cancel", "")->body, "status") == "canceling");
    CHECK(t.comfy.interrupted.size() == 1);
    t.grow_stale();
    CHECK(t.status(id) == "canceling");
    t.comfy.finish(id, "{}", R"({"status_str":"error","messages":[["execution_interrupted",{}]]})");
    t.grow_stale();
    CHECK(t.status(id) == "canceled");
    CHECK(at(t.job(id), "error") == "null");
  }
}

TEST_CASE("a cancel that ComfyUI cannot carry out is its error, not a canceling") {
  stage t;
  const std::string id = t.submit();
  t.comfy.instead["/cancel"] = reply::text(500, "oops");
  const auto c = t.s.post("/api/v2/jobs/" + id + "/cancel", "");
  CHECK(at(c->body, "error.code") == "upstream_error");
  t.comfy.instead.clear();
  CHECK(t.status(id) == "queued");
}

TEST_CASE("a ComfyUI that is down, slow, broken or talks nonsense gives the contract's codes") {
  stage t;
  const std::string id = t.submit();
  reply down, silent, broken;
  down.refuses = true;
  silent.never = true;
  broken.breaks_after = 0;
  const auto ask = [&](const reply& r) {
    t.comfy.instead["/queue"] = t.comfy.instead["/history"] = t.comfy.instead["/cancel"] = r;
    t.grow_stale();
    std::string codes;
    for (const std::string& target : {"/api/v2/jobs/" + id, std::string("/api/v2/jobs")})
      codes += at(t.s.get(target)->body, "error.code") + " ";
    return codes + at(t.s.post("/api/v2/jobs/" + id + "/cancel", "")->body, "error.code");
  };
  const std::string unreachable = "upstream_unreachable upstream_unreachable upstream_unreachable",
                    error = "upstream_error upstream_error upstream_error";
  CHECK(ask(down) == unreachable);
  CHECK(ask(silent) == unreachable);
  CHECK(ask(broken) == unreachable);
  CHECK(ask(reply::text(200, "<html>")) == error);
  CHECK(ask(reply::json(200, "[]")) == error);
  CHECK(ask(reply::json(500, "{}")) == error);
  CHECK(ask(reply::json(302, "{}")) == error);
  t.comfy.instead.clear();
  t.grow_stale();
  CHECK(t.status(id) == "queued");
}

TEST_CASE("the list is newest first, limited, filtered and honest about what it did not look at") {
  stage t;
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(t.submit());
  t.comfy.finish(ids[1]);
  const auto all = t.s.get("/api/v2/jobs");
  CHECK(at(all->body, "jobs.0.id") == ids[4]);
  CHECK(at(all->body, "jobs.4.id") == ids[0]);
  CHECK(at(all->body, "jobs.4.status") == "queued");
  CHECK(at(all->body, "truncated") == "false");
  const auto two = t.s.get("/api/v2/jobs?limit=2");
  CHECK(at(two->body, "jobs.1.id") == ids[3]);
  CHECK(at(two->body, "jobs.2").empty());
  CHECK(at(two->body, "truncated") == "false");
  const auto done = t.s.get("/api/v2/jobs?status=succeeded%2Cfailed");
  CHECK(at(done->body, "jobs.0.id") == ids[1]);
  CHECK(at(done->body, "jobs.1").empty());
  for (const char* query : {"limit=0", "limit=101", "limit=x", "limit=", "status=nope"})
    CHECK(t.s.get(std::string("/api/v2/jobs?") + query)->status == 400);
}

TEST_CASE("a list over more than 500 jobs stops there, says so, and asks ComfyUI at most twice for each") {
  stage t;
  for (int i = 0; i < 501; ++i) t.submit();
  t.comfy.pending.clear();
  t.grow_stale();
  const std::size_t before = t.s.calls.size();
  const auto c = t.s.get("/api/v2/jobs?status=running");
  CHECK(at(c->body, "jobs") == "[]");
  CHECK(at(c->body, "truncated") == "true");
  CHECK(t.s.calls.size() - before <= 1000);
}

TEST_CASE("too many jobs that have not ended are refused, and the key stays free") {
  stage t(true, {{"max_jobs", "100"}});
  for (int i = 0; i < 100; ++i) t.submit();
  const auto c = t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "K"}});
  CHECK(c->status == 429);
  CHECK(at(c->body, "error.code") == "queue_full");
  CHECK_FALSE(c->header("retry-after").empty());
  for (const auto& id : std::vector<std::string>(t.comfy.pending)) t.comfy.finish(id);
  t.grow_stale();
  t.s.get("/api/v2/jobs?limit=100");
  CHECK(t.s.post("/api/v2/jobs", body_with(), {{"idempotency-key", "K"}})->status == 201);
}

TEST_CASE("a body over the limit is 413, and one without a declared length too") {
  stage t(true, {{"max_upload_mb", "1"}});
  CHECK(t.s.post("/api/v2/jobs", std::string(2'100'000, ' ') + body_with())->status == 413);
  portico::testing::request r;
  r.method = "POST";
  r.target = "/api/v2/jobs";
  r.body_follows = true;
  const auto c = t.s.send(r);
  for (int i = 0; i < 80; ++i) c->send(std::string(30'000, ' '));
  c->end();
  t.s.run_until([&] { return c->over; });
  CHECK(c->status == 413);
}

TEST_CASE("a submission is carried through when its client goes") {
  stage t;
  portico::testing::request r;
  r.method = "POST";
  r.target = "/api/v2/jobs";
  r.body = body_with();
  reply slow = reply::json(200, "{}");
  slow.delay = std::chrono::milliseconds(500);
  t.comfy.instead["/prompt"] = slow;
  const auto c = t.s.send(r);
  t.s.advance(std::chrono::milliseconds(100));
  c->disconnect();
  t.s.advance(std::chrono::seconds(2));
  CHECK(t.s.stat("jobs_submitted_total") == 1);
}
