// Bad input, and an upstream that is down, slow, cut, or talks nonsense: the contract's code each
// time, nothing that is our own 500, and the connection in step.
#include <catch2/catch.hpp>
#include <thread>

#include "relay.hpp"
#include "stage.hpp"

using namespace e2e;
using deed = relay::deed;

namespace {

std::string code(const answer& a) { return std::to_string(a.status) + ' ' + at(a.body, "error.code"); }
bool for_prompt(const std::string& head) { return head.compare(0, 12, "POST /prompt") == 0; }

// portico with a short patience, in front of a relay in front of the stand-in.
struct broken {
  process standin{
      "standin",
      "[server]\nthreads = 1\n[plugins]\nenabled = comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 10ms\n"};
  relay between{standin.port(), [](const std::string&) { return deed::pass; }};
  process portico{"portico",
                  "[server]\nthreads = 2\n[plugins]\nenabled = health, jobs, uploads\n[upstream.comfyui]\nurl = " +
                      between.url() + "\nresponse_timeout = 1s\n"};
  answer submit(const std::string& key = {}) const {
    fields headers;
    if (!key.empty()) headers.emplace_back("Idempotency-Key", key);
    return post(portico.port(), "/api/v2/jobs", "{\"workflow\":" + quick_graph() + "}", headers);
  }
  answer job(const std::string& id) const { return get(portico.port(), "/api/v2/jobs/" + id); }
};

}  // namespace

TEST_CASE("an upstream that is down is 503, and the key stays claimed") {
  const stage s({}, "http://127.0.0.1:" + std::to_string(dead_port()));
  const fields key = {{"Idempotency-Key", "k"}};
  CHECK(code(s.submit(quick_graph(), "", key)) == "503 upstream_unreachable");
  CHECK(code(s.submit(quick_graph(), "", key)) == "422 idempotency_key_reuse");
  const std::string unknown = "/api/v2/jobs/00000000-0000-4000-8000-000000000000";
  CHECK(code(s.get(unknown)) == "503 upstream_unreachable");
  CHECK(code(s.post(unknown + "/cancel")) == "503 upstream_unreachable");
  CHECK(s.get("/api/v2/health").status == 200);
}

TEST_CASE("nothing of the upstream's address is in an error") {
  const stage s({}, "http://joe:secret@127.0.0.1:" + std::to_string(dead_port()));
  const std::string body =
      s.submit(quick_graph()).body + s.get("/api/v2/jobs/00000000-0000-4000-8000-000000000000").body;
  CHECK(body.find("secret") == std::string::npos);
  CHECK(body.find("joe") == std::string::npos);
  CHECK(s.portico.log().find("secret") == std::string::npos);
}

TEST_CASE("a submission whose outcome is unknown keeps its key") {
  broken b;
  for (const deed what : {deed::hang_up, deed::half_head, deed::garbage, deed::silence}) {
    const std::string key = "k" + std::to_string(static_cast<int>(what));
    b.between.behave([what](const std::string& head) { return for_prompt(head) ? what : deed::pass; });
    const answer a = b.submit(key);
    INFO(a.status << ' ' << a.body);
    CHECK(a.status >= 500);
    CHECK(at(a.body, "error.code").compare(0, 9, "upstream_") == 0);
    b.between.behave([](const std::string&) { return deed::pass; });
    CHECK(code(b.submit(key)) == "422 idempotency_key_reuse");
  }
  CHECK(b.submit("fresh").status == 201);
}

TEST_CASE("an upstream that answers 5xx, a redirect or HTML to a submission is an upstream error") {
  const stage s;
  for (const char* fault :
       {R"({"status":500})", R"({"status":503,"body":"<html>busy</html>","content_type":"text/html"})",
        R"({"status":302})"}) {
    s.knobs(std::string(R"({"faults":{"POST /prompt":)") + fault + "}}");
    const fields key = {{"Idempotency-Key", fault}};
    const answer a = s.submit(quick_graph(), "", key);
    INFO(a.body);
    CHECK(a.status >= 500);
    CHECK(at(a.body, "error.code") == "upstream_error");
    CHECK(a.body.find("<html>") == std::string::npos);
    CHECK(code(s.submit(quick_graph(), "", key)) == "422 idempotency_key_reuse");
  }
}

TEST_CASE("refusals of older ComfyUI, with errors as text and lists, are understood") {
  const stage s;
  for (const char* body : {R"({"error":"bad thing","node_errors":[]})", "[]", R"("no")", "plain words", "",
                           R"({"error":{"message":null},"node_errors":5})", R"({"error":null})"}) {
    s.knobs(R"({"faults":{"POST /prompt":{"status":400,"body":)" + quoted(body) + "}}}");
    const answer a = s.submit(quick_graph());
    INFO(body << " -> " << a.body);
    CHECK(code(a) == "422 invalid_workflow");
    CHECK(at(a.body, "error.message").size() > 2);
    CHECK(at(a.body, "error.details.node_errors") == "{}");
  }
}

TEST_CASE("an upstream that talks nonsense about a job is an error, never an end of the job") {
  const stage s;
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  s.wait_for(id, "running");
  for (const char* fault : {R"({"status":500})", R"({"status":200,"body":"<html>","content_type":"text/html"})",
                            R"({"status":200,"body":"{"})", R"({"status":200,"body":"[]"})",
                            R"({"status":200,"body":"5"})", R"({"drop":true})"}) {
    const std::string f(fault);
    s.knobs(R"({"faults":{"GET /history/{id}":)" + f + R"(,"GET /queue":)" + f + R"(,"GET /jobs/{id}":)" + f + "}}");
    std::this_thread::sleep_for(300ms);
    const answer a = s.job(id);
    INFO(fault << " -> " << a.status << ' ' << a.body);
    CHECK((a.status >= 502 || a.status == 500 || at(a.body, "status") == "running"));
    if (a.status != 200) CHECK(at(a.body, "error.code").compare(0, 9, "upstream_") == 0);
  }
  s.knobs(R"({"faults":null,"hang":false})");
  CHECK(at(s.wait_for(id, "succeeded failed expired").body, "status") == "succeeded");
}

TEST_CASE("odd history does no harm") {
  const stage s;
  int colour = 1;
  for (const char* shown :
       {"{\"images\":null}", "{\"images\":[null,5,\"x\",{},{\"filename\":null},{\"filename\":5},{\"filename\":\"\"}]}",
        "{\"text\":[\"words\"],\"animated\":[true]}", "{\"images\":{},\"3d\":[{\"filename\":\"a.glb\"}]}",
        "{\"images\":[{\"filename\":\"ok.png\",\"subfolder\":null,\"type\":null}]}"}) {
    s.knobs(std::string(R"({"outputs":{"9":)") + shown + "}}");
    const answer a = s.done(quick_graph(++colour));
    INFO(shown << " -> " << a.body);
    CHECK(at(a.body, "outputs").front() == '[');
  }
}

TEST_CASE("a job that ComfyUI has forgotten is expired, never done; unknown ones are 404") {
  const stage s;
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  s.wait_for(id, "running");
  CHECK(post(s.standin.port(), "/standin/restart", "").status == 204);
  CHECK(at(s.wait_for(id, "expired succeeded failed canceled").body, "status") == "expired");
  const answer a = s.post("/api/v2/jobs/" + id + "/cancel");
  CHECK(a.status == 200);
  CHECK(at(a.body, "status") == "expired");
  CHECK(at(s.get("/api/v2/jobs?status=expired").body, "jobs.0.id") == id);
}

TEST_CASE("a terminal job is told from memory, also when ComfyUI has forgotten it") {
  const stage s;
  const answer before = s.done(quick_graph());
  CHECK(post(s.standin.port(), "/standin/restart", "").status == 204);
  const int reads = s.calls("GET /history/{id}") + s.calls("GET /jobs/{id}");
  const answer after = s.job(at(before.body, "id"));
  for (const char* field :
       {"status", "created_at", "started_at", "completed_at", "outputs.0.id", "outputs.0.url", "outputs_reused"})
    CHECK(at(after.body, field) == at(before.body, field));
  CHECK(s.calls("GET /history/{id}") + s.calls("GET /jobs/{id}") == reads);
}

TEST_CASE("a cancel that ComfyUI does not take is told as such") {
  const stage s;
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  s.wait_for(id, "running");
  s.knobs(R"({"faults":{"POST /jobs/{id}/cancel":{"status":500},"POST /interrupt":{"status":500},)"
          R"("POST /queue":{"status":500}}})");
  const answer a = s.post("/api/v2/jobs/" + id + "/cancel");
  INFO(a.body);
  CHECK((a.status == 500 || a.status == 502));
  CHECK(at(a.body, "error.code") == "upstream_error");
  s.knobs(R"({"faults":null})");
  CHECK(s.post("/api/v2/jobs/" + id + "/cancel").status == 200);
  s.wait_for(id, "canceled");
}

TEST_CASE("a hundred megabytes of nesting are refused in time, with little memory") {
  const stage s;
  const std::size_t before = s.portico.resident_kb();
  const std::string deep(100'000'000, '[');
  const auto begun = std::chrono::steady_clock::now();
  const answer a = s.post("/api/v2/jobs", deep);
  INFO(a.status << ' ' << a.body.substr(0, 200));
  CHECK((a.status == 400 || a.status == 413));
  CHECK(std::chrono::steady_clock::now() - begun < 10s * slowness);
  CHECK(s.portico.resident_kb() < before + 500'000 * slowness);
  const std::string objects = "{\"workflow\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  CHECK(s.post("/api/v2/jobs", objects).status / 100 == 4);
  std::string keys = "{\"workflow\":";
  for (int i = 0; i < 100'000; ++i) keys += "{\"a\":";
  CHECK(s.post("/api/v2/jobs", keys).status / 100 == 4);
  CHECK(s.submit(quick_graph()).status == 201);
}

TEST_CASE("a body over the limit is 413, before it is read") {
  const stage s("[server]\nthreads = 2\nmax_body = 64k\n");
  raw_socket socket(s.port());
  socket.send("POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\nContent-Length: 999999999\r\n\r\n");
  const answer a = socket.receive_answer("POST");
  INFO(a.body);
  CHECK(a.status == 413);
  CHECK(at(a.body, "error.code") == "payload_too_large");
}

TEST_CASE("after each refusal the connection serves the next request") {
  const stage s;
  raw_socket socket(s.port());
  const std::string host = "Host: " + s.portico.authority() + "\r\n";
  const auto send = [&](const std::string& body) {
    socket.send("POST /api/v2/jobs HTTP/1.1\r\n" + host + "Content-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    return socket.receive_answer("POST").status;
  };
  for (int i = 0; i < 3; ++i) {
    CHECK(send("not JSON") == 400);
    CHECK(send("{}") == 422);
    CHECK(send(R"({"workflow":{"1":{"class_type":"NoSuchNode"}}})") == 422);
    CHECK(send("{\"workflow\":" + quick_graph() + "}") == 201);
    socket.send("GET /api/v2/none HTTP/1.1\r\n" + host + "\r\n");
    CHECK(socket.receive_answer().status == 404);
  }
}

TEST_CASE("a client that leaves in the middle of its request or before its answer does no harm") {
  const stage s;
  s.knobs(R"({"faults":{"POST /prompt":{"delay_ms":300}}})");
  const std::string body = "{\"workflow\":" + quick_graph() + "}";
  const std::string head = "POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() +
                           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  for (int i = 0; i < 10; ++i) {
    raw_socket half(s.port()), whole(s.port());
    half.send(head + body.substr(0, 20));
    whole.send(head + body);
    std::this_thread::sleep_for(20ms);
    half.reset();
    whole.reset();
  }
  s.knobs(R"({"faults":null})");
  CHECK(s.done(quick_graph()).status == 200);
}
