// Jobs: submitted, refused, read, listed, cancelled, under their keys.
#include <catch2/catch.hpp>
#include <future>
#include <regex>
#include <set>
#include <thread>

#include "stage.hpp"

using namespace e2e;

namespace {

constexpr const char* unknown = "00000000-0000-4000-8000-000000000000";
const std::regex time_text(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)");

std::string code(const answer& a) { return std::to_string(a.status) + ' ' + at(a.body, "error.code"); }

// Seconds since the day began, and the day, of "2026-01-31T12:00:00.123456Z".
double second_of(const std::string& t) {
  return std::stod(t.substr(11, 2)) * 3600 + std::stod(t.substr(14, 2)) * 60 + std::stod(t.substr(17, 9));
}

}  // namespace

TEST_CASE("a job that is taken is 201, with every field of the contract") {
  const stage s;
  const answer a = s.submit(quick_graph());
  INFO(a.body);
  REQUIRE(a.status == 201);
  CHECK(a.header("content-type") == "application/json; charset=utf-8");
  const std::string id = at(a.body, "id");
  CHECK(std::regex_match(id, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")));
  CHECK(at(a.body, "status") == "queued");
  for (const char* field : {"queue_position", "progress", "error", "started_at", "completed_at"})
    CHECK(at(a.body, field) == "null");
  CHECK(at(a.body, "outputs") == "[]");
  CHECK(at(a.body, "outputs_reused") == "false");
  CHECK(at(a.body, "metadata") == "<absent>");
  CHECK(at(a.body, "priority") == "<absent>");
  const std::string self = s.portico.url() + "/api/v2/jobs/" + id;
  CHECK(at(a.body, "urls.self") == self);
  CHECK(at(a.body, "urls.events") == self + "/events");
  CHECK(at(a.body, "urls.cancel") == self + "/cancel");
  CHECK(s.prompts(id) == 1);
}

TEST_CASE("a job expires exactly a day after it was made") {
  const stage s;
  const answer a = s.submit(quick_graph());
  const std::string created = at(a.body, "created_at"), expires = at(a.body, "expires_at");
  CHECK(std::regex_match(created, time_text));
  CHECK(std::regex_match(expires, time_text));
  CHECK(created.substr(11) == expires.substr(11));
  CHECK(created.substr(0, 10) != expires.substr(0, 10));
}

TEST_CASE("a finished job tells its times, its outputs and where they are") {
  const stage s;
  const answer a = s.done(quick_graph());
  INFO(a.body);
  const std::string started = at(a.body, "started_at"), completed = at(a.body, "completed_at");
  CHECK(std::regex_match(started, time_text));
  CHECK(std::regex_match(completed, time_text));
  CHECK(second_of(started) <= second_of(completed));
  CHECK(at(a.body, "progress") == "null");
  CHECK(at(a.body, "outputs.0.node_id") == "9");
  CHECK(at(a.body, "outputs.0.name") == "e2e_00001_.png");
  CHECK(at(a.body, "outputs.0.type") == "image");
  CHECK(at(a.body, "outputs.0.content_type") == "image/png");
  CHECK(at(a.body, "outputs.0.hash") == "null");
  CHECK(at(a.body, "outputs.0.job_id") == at(a.body, "id"));
  CHECK(at(a.body, "outputs.0.url") == s.portico.url() + "/api/v2/assets/" + at(a.body, "outputs.0.id") + "/content");
  CHECK(std::regex_match(at(a.body, "outputs.0.url_expires_at"), time_text));
  CHECK(at(a.body, "outputs.1") == "<absent>");
}

TEST_CASE("links follow the Host of the request, not X-Forwarded headers") {
  const stage s;
  const std::string name = "localhost:" + std::to_string(s.port());
  const answer a =
      s.submit(quick_graph(), "", {{"Host", name}, {"X-Forwarded-Host", "evil.test"}, {"X-Forwarded-Proto", "https"}});
  CHECK(at(a.body, "urls.self") == "http://" + name + "/api/v2/jobs/" + at(a.body, "id"));
}

TEST_CASE("what is no submission is refused with the contract's code, before anything is sent on") {
  const stage s;
  const auto refused = [&](const std::string& body) { return code(s.post("/api/v2/jobs", body)); };
  for (const char* body : {"", "{", "[]", "null", "1", "\"x\"", "{\"workflow\":{}} x", "{\"workflow\":NaN}", "\xFF"})
    CHECK(refused(body) == "400 invalid_request");
  for (const char* body :
       {"{}", "{\"workflow\":null}", "{\"workflow\":[]}", "{\"workflow\":\"x\"}", "{\"workflow\":{},\"inputs\":{}}",
        "{\"workflow\":{},\"webhook_url\":\"http://a\"}", "{\"workflow\":[],\"inputs\":1}"})
    CHECK(refused(body) == "422 invalid_workflow");
  CHECK(refused(R"({"workflow":{"nodes":[],"links":[],"last_node_id":1}})") == "422 workflow_format_ui");
  CHECK(refused(R"({"workflow":{"nodes":[],"links":null}})") == "422 workflow_format_ui");
  CHECK(s.calls("POST /prompt") == 0);
}

TEST_CASE("metadata and priority are kept to their limits, echoed, and never sent on") {
  const stage s;
  const auto with = [&](const std::string& rest) { return s.submit(quick_graph(), rest); };
  std::string limit;
  for (int i = 0; i < 512; ++i) limit += "\xC3\xA9";  // 1024 bytes
  CHECK(with(",\"metadata\":\"" + limit + "\"").status == 201);
  CHECK(code(with(",\"metadata\":\"" + limit + "x\"")) == "422 invalid_request");
  for (const char* wrong : {"5", "{}", "[]", "true"})
    CHECK(code(with(std::string(",\"metadata\":") + wrong)) == "422 invalid_request");
  for (const char* right : {"0", "-1000000", "1000000", "null"})
    CHECK(with(std::string(",\"priority\":") + right).status == 201);
  for (const char* wrong : {"1000001", "-1000001", "true", "1.0", "\"1\"", "1e3", "[]"})
    CHECK(code(with(std::string(",\"priority\":") + wrong)) == "422 invalid_request");
  const std::string id = s.submitted(quick_graph(), ",\"metadata\":\"char-0042/front\",\"priority\":7");
  const answer a = s.job(id);
  CHECK(at(a.body, "metadata") == "char-0042/front");
  CHECK(at(a.body, "priority") == "7");
  const std::string sent = at(s.counters(), "last_prompt");
  CHECK(at(sent, "prompt_id") == id);
  for (const char* key : {"front", "number", "priority", "metadata"}) CHECK(at(sent, key) == "<absent>");
}

TEST_CASE("extra_data carries one key and nothing else") {
  const stage s;
  for (const char* wrong : {"5", "[]", "\"x\"", R"({"api_key_comfy_org":null})", R"({"api_key_comfy_org":5})",
                            R"({"api_key_comfy_org":"a","other":1})", R"({"client_id":"x"})"})
    CHECK(code(s.submit(quick_graph(), std::string(",\"extra_data\":") + wrong)) == "400 invalid_request");
  CHECK(s.calls("POST /prompt") == 0);
  for (const char* absent : {"", ",\"extra_data\":null", ",\"extra_data\":{}"}) {
    s.submitted(quick_graph(), absent);
    CHECK(at(at(s.counters(), "last_prompt"), "extra_data") == "<absent>");
  }
  const std::string id = s.submitted(quick_graph(), R"(,"extra_data":{"api_key_comfy_org":"SECRET-1"})");
  CHECK(at(at(s.counters(), "last_prompt"), "extra_data.api_key_comfy_org") == "SECRET-1");
  CHECK(s.wait_for(id, "succeeded").body.find("SECRET-1") == std::string::npos);
  CHECK(s.get("/api/v2/jobs/" + id + "/workflow").body.find("SECRET-1") == std::string::npos);
  CHECK(s.portico.log().find("SECRET-1") == std::string::npos);
}

TEST_CASE("no header of the client is passed on") {
  const stage s;
  s.submit(quick_graph(), "",
           {{"User-Agent", "mine"}, {"Cookie", "a=b"}, {"X-Mine", "1"}, {"Authorization", "Bearer x"}});
  const std::string sent = at(s.counters(), "last_prompt_headers");
  for (const char* name : {"cookie", "x-mine", "authorization", "origin"}) CHECK(at(sent, name) == "<absent>");
  CHECK(at(sent, "user-agent") != "mine");
}

TEST_CASE("references that resolve to nothing are listed, and nothing is sent on") {
  const stage s;
  const auto with = [&](const std::string& reference) {
    return s.submit(R"({"1":{"class_type":"LoadImage","inputs":{"image":)" + reference + "}}}");
  };
  const answer a = with(R"({"__type":"core/ASSET","info":{"id":"no-such-id"}})");
  CHECK(code(a) == "422 missing_asset");
  CHECK(at(a.body, "error.details.missing_ids.0") == "no-such-id");
  for (const char* malformed : {R"({"__type":"core/ASSET"})", R"({"__type":"core/ASSET","info":"x"})",
                                R"({"__type":"core/ASSET","info":{}})", R"({"__type":"core/ASSET","info":{"id":5}})"})
    CHECK(code(with(malformed)) == "422 missing_asset");
  CHECK(code(s.submit(R"({"1":[[{"a":{"__type":"core/ASSET","info":{"hash":"blake3:00"}}}]]})")) ==
        "422 missing_asset");
  CHECK(s.calls("POST /prompt") == 0);
}

TEST_CASE("an output used as input is named with its folder") {
  const stage s;
  const std::string output = at(s.done(quick_graph()).body, "outputs.0.id");
  const std::string graph =
      R"({"1":{"class_type":"LoadImage","inputs":{"image":{"__type":"core/ASSET","info":{"id":")" + output +
      R"("}}}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"again"}}})";
  const answer a = s.done(graph);
  CHECK(at(a.body, "outputs.0.name") == "again_00001_.png");
  const std::string resolved = s.get("/api/v2/jobs/" + at(a.body, "id") + "/workflow").body;
  CHECK(at(resolved, "workflow.1.inputs.image") == "e2e_00001_.png [output]");
  CHECK(at(resolved, "workflow.2.inputs.filename_prefix") == "again");
}

TEST_CASE("the workflow comes back as it was sent") {
  const stage s;
  const std::string id = s.submitted(quick_graph());
  const answer a = s.get("/api/v2/jobs/" + id + "/workflow");
  CHECK(a.status == 200);
  CHECK(at(a.body, "format") == "api");
  CHECK(a.body.find(quick_graph()) != std::string::npos);
  CHECK(code(s.get(std::string("/api/v2/jobs/") + unknown + "/workflow")) == "404 not_found");
}

TEST_CASE("what ComfyUI refuses is invalid_workflow with its words, and frees the key") {
  const stage s;
  const fields key = {{"Idempotency-Key", "k1"}};
  const answer a = s.submit(R"({"1":{"class_type":"NoSuchNode","inputs":{}}})", "", key);
  CHECK(code(a) == "422 invalid_workflow");
  CHECK(at(a.body, "error.message").find("NoSuchNode") != std::string::npos);
  CHECK(at(a.body, "error.details.node_errors") == "{}");
  const answer inputs = s.submit(R"({"1":{"class_type":"SaveImage","inputs":{}}})", "", key);
  CHECK(at(inputs.body, "error.details.node_errors.1.errors.0.type") == "required_input_missing");
  CHECK(s.submit(quick_graph(), "", key).status == 201);
  CHECK(code(s.submit(quick_graph(), "", key)) == "422 idempotency_key_reuse");
}

TEST_CASE("a key is claimed by one success, whatever the body, and not by earlier mistakes") {
  const stage s;
  const fields key = {{"Idempotency-Key", "the key"}};
  CHECK(code(s.submit(R"({"nodes":[],"links":[]})", "", key)) == "422 workflow_format_ui");
  CHECK(s.submit(quick_graph(), "", key).status == 201);
  CHECK(code(s.submit(quick_graph(1), R"(,"extra_data":{"api_key_comfy_org":"z"})", key)) ==
        "422 idempotency_key_reuse");
  CHECK(s.submit(quick_graph(), "", {{"Idempotency-Key", "another"}}).status == 201);
}

TEST_CASE("a key has 1 to 255 characters") {
  const stage s;
  CHECK(code(s.submit(quick_graph(), "", {{"Idempotency-Key", ""}})) == "400 invalid_request");
  CHECK(code(s.submit(quick_graph(), "", {{"Idempotency-Key", "   "}})) == "400 invalid_request");
  CHECK(code(s.submit(quick_graph(), "", {{"Idempotency-Key", std::string(256, 'k')}})) == "400 invalid_request");
  CHECK(s.submit(quick_graph(), "", {{"Idempotency-Key", std::string(255, 'k')}}).status == 201);
}

TEST_CASE("of twenty submissions at once with one key exactly one is taken") {
  const stage s;
  std::vector<std::future<int>> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(std::async(std::launch::async, [&] {
      return s.submit(quick_graph(), "", {{"Idempotency-Key", "K"}}).status;
    }));
  std::multiset<int> statuses;
  for (auto& one : all) statuses.insert(one.get());
  CHECK(statuses.count(201) == 1);
  CHECK(statuses.count(422) == 19);
  CHECK(s.calls("POST /prompt") == 1);
}

TEST_CASE("an unknown or malformed id is 404 without a question upstream") {
  const stage s;
  for (const char* id :
       {"..%2F..%2Ffree", "..", "%2e%2e%2fqueue", "x", "x%3Fy=1", "00000000-0000-4000-8000-00000000000",
        "%7B00000000-0000-4000-8000-000000000000%7D", "0000000000004000800000000000ABCD",
        "ABCDEF00-0000-4000-8000-000000000000", "urn:uuid:00000000-0000-4000-8000-000000000000"}) {
    const std::string path = std::string("/api/v2/jobs/") + id;
    CHECK(s.get(path).status == 404);
    CHECK(s.post(path + "/cancel").status == 404);
    CHECK(s.get(path + "/workflow").status == 404);
  }
  CHECK(s.calls("GET /history/{id}") + s.calls("GET /queue") + s.calls("GET /jobs/{id}") +
            s.calls("POST /jobs/{id}/cancel") ==
        0);
  CHECK(code(s.job(unknown)) == "404 not_found");
  CHECK(code(s.post(std::string("/api/v2/jobs/") + unknown + "/cancel")) == "404 not_found");
}

TEST_CASE("a job that ComfyUI knows and portico does not is read through") {
  const stage s;
  const std::string id = "12345678-1234-4123-8123-123456789abc";
  REQUIRE(
      post(s.standin.port(), "/prompt", R"({"prompt":)" + quick_graph() + R"(,"prompt_id":")" + id + "\"}").status ==
      200);
  const answer a = s.wait_for(id, "succeeded");
  CHECK(at(a.body, "outputs.0.name") == "e2e_00001_.png");
  CHECK(code(s.get("/api/v2/jobs/" + id + "/workflow")) == "404 not_found");
}

TEST_CASE("queued jobs have their place in the order they will run") {
  const stage s;
  s.knobs("{\"hang\":true}");
  const std::string first = s.submitted(sampling_graph(2, 1));
  s.wait_for(first, "running");
  const std::string second = s.submitted(quick_graph(2)), third = s.submitted(quick_graph(3));
  CHECK(eventually([&] { return at(s.job(second).body, "queue_position") == "1"; }));
  CHECK(eventually([&] { return at(s.job(third).body, "queue_position") == "2"; }));
  // Put in front of all by somebody else.
  post(s.standin.port(), "/prompt",
       R"({"front":true,"prompt":)" + quick_graph(4) + R"(,"prompt_id":"12345678-1234-4123-8123-123456789abc"})");
  CHECK(eventually([&] { return at(s.job(third).body, "queue_position") == "3"; }));
  CHECK(at(s.job(first).body, "queue_position") == "null");
  s.knobs("{\"hang\":false}");
  CHECK(at(s.wait_for(third, "succeeded").body, "queue_position") == "null");
}

TEST_CASE("a running job is cancelled, and stays canceled") {
  const stage s;
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  s.wait_for(id, "running");
  const answer a = s.post("/api/v2/jobs/" + id + "/cancel");
  CHECK(a.status == 200);
  CHECK((at(a.body, "status") == "canceling" || at(a.body, "status") == "canceled"));
  const answer end = s.wait_for(id, "canceled failed succeeded expired running", 10s);
  CHECK(at(end.body, "status") == "canceled");
  CHECK(at(end.body, "error") == "null");
  CHECK(at(s.post("/api/v2/jobs/" + id + "/cancel").body, "status") == "canceled");
}

TEST_CASE("a queued job that is cancelled is canceled, not expired, though it leaves no trace upstream") {
  const stage s;
  for (const char* jobs_api : {"true", "false"}) {
    s.knobs(std::string("{\"hang\":true,\"jobs_api\":") + jobs_api + "}");
    const std::string blocker = s.submitted(sampling_graph(2, jobs_api[0]));
    s.wait_for(blocker, "running");
    const std::string id = s.submitted(quick_graph(7));
    const answer a = s.post("/api/v2/jobs/" + id + "/cancel");
    CHECK(a.status == 200);
    CHECK(eventually([&] { return at(s.job(id).body, "status") == "canceled"; }));
    CHECK(at(s.job(blocker).body, "status") == "running");
    s.post("/api/v2/jobs/" + blocker + "/cancel");
    CHECK(at(s.wait_for(blocker, "canceled succeeded").body, "status") == "canceled");
  }
}

TEST_CASE("cancelling a finished job changes nothing") {
  const stage s;
  const std::string id = at(s.done(quick_graph()).body, "id");
  const answer a = s.post("/api/v2/jobs/" + id + "/cancel");
  CHECK(a.status == 200);
  CHECK(at(a.body, "status") == "succeeded");
}

TEST_CASE("a node that fails makes the job failed, with its words as they are") {
  const stage s;
  s.knobs(R"({"fail_node":"KSampler","error_text":"a\rdata: {}\r\revent: status\n\u2028","error_type":"ValueError"})");
  const answer a = s.wait_for(s.submitted(sampling_graph()), "failed succeeded canceled expired");
  CHECK(at(a.body, "status") == "failed");
  CHECK(at(a.body, "error.code") == "node_execution_error");
  CHECK(at(a.body, "error.message").find("event: status") != std::string::npos);
  CHECK(at(a.body, "error.node_id") == "3");
  CHECK(at(a.body, "error.class_type") == "KSampler");
  CHECK(a.body.find('\r') == std::string::npos);
  CHECK(a.body.find('\n') == std::string::npos);
}

TEST_CASE("a job made of cached nodes says so, and lists its outputs again") {
  const stage s;
  const answer first = s.done(quick_graph()), second = s.done(quick_graph());
  CHECK(at(first.body, "outputs_reused") == "false");
  CHECK(at(second.body, "outputs_reused") == "true");
  CHECK(at(second.body, "outputs.0.name") == at(first.body, "outputs.0.name"));
  CHECK(at(second.body, "outputs.0.id") != at(first.body, "outputs.0.id"));
}

TEST_CASE("the list has the newest first, filters by status and is limited") {
  const stage s;
  CHECK(at(s.get("/api/v2/jobs").body, "jobs") == "[]");
  const std::string a = at(s.done(quick_graph(1)).body, "id"), b = at(s.done(quick_graph(2)).body, "id");
  s.knobs("{\"fail_node\":\"9\"}");
  const std::string failed = s.submitted(quick_graph(3));
  s.wait_for(failed, "failed");
  const answer all = s.get("/api/v2/jobs");
  CHECK(all.status == 200);
  CHECK(at(all.body, "jobs.0.id") == failed);
  CHECK(at(all.body, "jobs.1.id") == b);
  CHECK(at(all.body, "jobs.2.id") == a);
  CHECK(at(all.body, "truncated") == "false");
  const answer good = s.get("/api/v2/jobs?status=succeeded,canceled&limit=1");
  CHECK(at(good.body, "jobs.0.id") == b);
  CHECK(at(good.body, "jobs.1") == "<absent>");
  CHECK(at(s.get("/api/v2/jobs?status=failed").body, "jobs.0.id") == failed);
  CHECK(s.get("/api/v2/jobs?status=").status == 200);
  for (const char* query : {"limit=0", "limit=101", "limit=x", "limit=", "limit=1.5", "status=done", "status=failed,x"})
    CHECK(code(s.get(std::string("/api/v2/jobs?") + query)) == "400 invalid_request");
}

TEST_CASE("what portico knew without a store is gone after its restart, what ComfyUI knows is not") {
  const stage s;
  const answer before = s.done(quick_graph());
  const std::string id = at(before.body, "id");
  const process again(
      "portico", "[plugins]\nenabled = health, jobs, uploads\n[upstream.comfyui]\nurl = " + s.standin.url() + "\n");
  const answer after = get(again.port(), "/api/v2/jobs/" + id);
  CHECK(at(after.body, "status") == "succeeded");
  CHECK(at(after.body, "outputs.0.name") == "e2e_00001_.png");
  CHECK(code(get(again.port(), "/api/v2/jobs/" + id + "/workflow")) == "404 not_found");
  CHECK(get(again.port(), "/api/v2/assets/" + at(before.body, "outputs.0.id")).status == 404);
  CHECK(at(get(again.port(), "/api/v2/jobs").body, "jobs") == "[]");
}

TEST_CASE("a list with a rare filter looks at a bounded number of jobs and says so") {
  const stage s;
  s.knobs("{\"step_delay_ms\":0}");
  raw_socket socket(s.port());
  const std::string body = "{\"workflow\":" + quick_graph() + "}";
  std::string last;
  for (int i = 0; i < 501; ++i) {
    socket.send("POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    const answer a = socket.receive_answer("POST");
    REQUIRE(a.status == 201);
    last = at(a.body, "id");
  }
  s.wait_for(last, "succeeded", 60s);
  const auto reads = [&] { return s.calls("GET /history/{id}") + s.calls("GET /queue") + s.calls("GET /jobs/{id}"); };
  const int before = reads();
  const answer a = s.get("/api/v2/jobs?status=failed");
  CHECK(a.status == 200);
  CHECK(at(a.body, "jobs") == "[]");
  CHECK(at(a.body, "truncated") == "true");
  CHECK(reads() - before <= 1000);
  const answer full = s.get("/api/v2/jobs?limit=100");
  CHECK(at(full.body, "truncated") == "false");
  CHECK(at(full.body, "jobs.99.status") == "succeeded");
}
