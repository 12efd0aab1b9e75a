// Answers that the other themes do not come by: the rest of each operation's errors.
#include <catch2/catch.hpp>
#include <thread>

#include "event_reader.hpp"
#include "form.hpp"
#include "recorder.hpp"
#include "relay.hpp"
#include "stage.hpp"

using namespace e2e;
using deed = relay::deed;

TEST_CASE("a list whose jobs ComfyUI cannot be asked about is an upstream's error") {
  process standin("standin", "[plugins]\nenabled = comfyui_standin\n");
  relay between(standin.port(), [](const std::string&) { return deed::pass; });
  const stage s({}, between.url());
  post(standin.port(), "/standin/knobs", R"({"hang":true})");
  s.submitted(sampling_graph());
  between.behave([](const std::string&) { return deed::hang_up; });
  std::this_thread::sleep_for(300ms);  // what was known may be shown for 250 ms
  CHECK(outcome(s.get("/api/v2/jobs")) == "503 upstream_unreachable");
  between.behave([](const std::string&) { return deed::garbage; });
  std::this_thread::sleep_for(300ms);
  CHECK(outcome(s.get("/api/v2/jobs")) == "500 upstream_error");
}

TEST_CASE("a submission over the limit is refused by its length") {
  const stage s("[plugin.jobs]\nmax_upload_mb = 1\n");
  raw_socket socket(s.port());
  socket.send("POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\nContent-Length: 2097153\r\n\r\n");
  const answer a = socket.receive_answer("POST");
  record("POST", "/api/v2/jobs", a);
  CHECK(outcome(a) == "413 payload_too_large");
}

TEST_CASE("more jobs than may wait are refused, and the key is free again") {
  const stage s("[plugin.jobs]\nmax_jobs = 100\n");
  s.knobs(R"({"hang":true})");
  s.submitted(sampling_graph());
  for (int i = 1; i < 100; ++i) s.submitted(quick_graph(i));
  const fields key = {{"Idempotency-Key", "k"}};
  for (int i = 0; i < 2; ++i) {
    const answer a = s.submit(quick_graph(), {}, key);
    CHECK(outcome(a) == "429 queue_full");
    CHECK(a.header("retry-after") == "5");
  }
}

TEST_CASE("events of a job that ComfyUI talks nonsense about are an upstream's error") {
  const stage s("[plugins]\nenabled = jobs, events\n");
  s.knobs(R"({"faults":{"GET /jobs/{id}":{"status":500},"GET /history/{id}":{"status":500}}})");
  CHECK(outcome(s.get("/api/v2/jobs/00000000-0000-4000-8000-000000000000/events")) == "500 upstream_error");
}

TEST_CASE("the bytes of an asset whose ComfyUI is down are not to be had for now") {
  stage s;
  const std::string id = at(upload(s.port(), "bytes", "a.png").body, "id");
  s.standin.stop();
  CHECK(outcome(s.get("/api/v2/assets/" + id + "/content")) == "500 upstream_error");
  CHECK(s.get("/api/v2/assets/" + id).status == 200);
}

TEST_CASE("an asset tells when it expires") {
  const stage s;
  const answer made = upload(s.port(), form().field("file_path", "a.png").field("expires_in", "60").file("bytes"));
  REQUIRE(made.status == 201);
  const answer seen = s.get("/api/v2/assets/" + at(made.body, "id"));
  CHECK(at(seen.body, "expires_at") == at(made.body, "expires_at"));
  CHECK(at(seen.body, "expires_at").size() == 27);
}

TEST_CASE("bodies of JSON over their limit are refused") {
  const stage s;
  const std::string body = "{\"hash\":\"" + std::string(1 << 20, 'a') + "\"}";
  CHECK(outcome(s.post("/api/v2/assets/from-hash", body)) == "413 payload_too_large");
}
