// Stopping: no new connections, idle ones closed at once, what is under way gets its grace, exit code 0.
#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include <filesystem>

#include "event_reader.hpp"
#include "stage.hpp"

using namespace e2e;

namespace {

std::string health(const process& p) { return "GET /api/v2/health HTTP/1.1\r\nHost: " + p.authority() + "\r\n\r\n"; }

}  // namespace

TEST_CASE("thirty idle connections do not delay the end") {
  process portico("portico", "[server]\nthreads = 4\n[plugins]\nenabled = health, jobs, uploads\n");
  std::vector<raw_socket> idle;
  for (int i = 0; i < 30; ++i) {
    idle.emplace_back(portico.port());
    idle.back().send(health(portico));
    CHECK(idle.back().receive_answer().status == 200);
  }
  const auto begun = std::chrono::steady_clock::now();
  const std::uint16_t port = portico.port();
  portico.stop();
  CHECK(std::chrono::steady_clock::now() - begun < 2s * slowness);
  for (raw_socket& s : idle) CHECK(s.closes(1s));
  CHECK_THROWS(raw_socket(port));
}

TEST_CASE("a request that is under way is answered before the end") {
  stage s("[server]\nthreads = 2\ndrain_timeout = 8s\n");
  s.knobs(R"({"faults":{"POST /prompt":{"delay_ms":1000}}})");
  raw_socket socket(s.port());
  const std::string body = "{\"workflow\":" + quick_graph() + "}";
  socket.send("POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() +
              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  CHECK(eventually([&] { return s.calls("POST /prompt") == 1; }));
  s.portico.signal(SIGTERM);
  const answer a = socket.receive_answer("POST");
  CHECK(a.status == 201);
  CHECK(a.header("connection") == "close");
  CHECK(socket.closes(2s));
  s.portico.allow_errors();
  CHECK(s.portico.wait(5s) == 0);
}

TEST_CASE("a request that never ends is cut when the grace is over, with exit code 0") {
  stage s("[server]\nthreads = 2\ndrain_timeout = 500ms\n");
  s.knobs(R"({"faults":{"POST /prompt":{"delay_ms":60000}}})");
  raw_socket socket(s.port());
  const std::string body = "{\"workflow\":" + quick_graph() + "}";
  socket.send("POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() +
              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  CHECK(eventually([&] { return s.calls("POST /prompt") == 1; }));
  const auto begun = std::chrono::steady_clock::now();
  s.portico.stop();
  CHECK(std::chrono::steady_clock::now() - begun < 5s);
  s.standin.stop();
}

TEST_CASE("a download to a client that does not read is cut when the grace is over") {
  stage s("[server]\nthreads = 2\ndrain_timeout = 500ms\n");
  const answer job =
      s.done(R"({"1":{"class_type":"EmptyLatentImage","inputs":{"width":2048,"height":2048,"batch_size":16}},)"
             R"("2":{"class_type":"SaveLatent","inputs":{"samples":["1",0],"filename_prefix":"big"}}})");
  std::vector<raw_socket> slow;
  for (int i = 0; i < 4; ++i) {
    slow.emplace_back(s.port(), 4096);
    slow.back().send("GET /api/v2/assets/" + at(job.body, "outputs.0.id") +
                     "/content HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n\r\n");
    CHECK(slow.back().receive(100).size() == 100);
  }
  const auto begun = std::chrono::steady_clock::now();
  s.portico.stop();
  CHECK(std::chrono::steady_clock::now() - begun < 5s);
}

TEST_CASE("a second signal ends at once") {
  stage s("[server]\nthreads = 2\ndrain_timeout = 60s\n");
  s.knobs(R"({"faults":{"POST /prompt":{"delay_ms":20000}}})");
  raw_socket socket(s.port());
  const std::string body = "{\"workflow\":" + quick_graph() + "}";
  socket.send("POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() +
              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  CHECK(eventually([&] { return s.calls("POST /prompt") == 1; }));
  s.portico.signal(SIGTERM);
  CHECK(s.portico.wait(300ms) == -1);
  s.portico.signal(SIGTERM);
  CHECK(s.portico.wait(2s) > 0);
}

TEST_CASE("Ctrl-C is a stop like another") {
  process portico("portico", "[plugins]\nenabled = health\n");
  portico.signal(SIGINT);
  CHECK(portico.wait(5s) == 0);
}

TEST_CASE("a server that has a job running stops in time") {
  stage s;
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  s.wait_for(id, "running");
  const auto begun = std::chrono::steady_clock::now();
  s.portico.stop();
  CHECK(std::chrono::steady_clock::now() - begun < 3s * slowness);
  s.standin.stop();  // in the middle of a hanging sampler
}

TEST_CASE("idle connections, streams and an upload under way together end in time, and leave no file") {
  namespace fs = std::filesystem;
  const fs::path spool = fs::path(temporary_folder()) / "spool";
  stage s("[server]\nthreads = 4\n[plugins]\nenabled = health, jobs, events, uploads\n[plugin.uploads]\nspool = " +
          spool.string() + "\n");
  s.knobs("{\"hang\":true}");
  const std::string id = s.submitted(sampling_graph());
  std::vector<raw_socket> idle;
  for (int i = 0; i < 30; ++i) {
    idle.emplace_back(s.port());
    idle.back().send(health(s.portico));
    CHECK(idle.back().receive_answer().status == 200);
  }
  std::vector<event_reader> streams;
  for (int i = 0; i < 4; ++i) streams.emplace_back(s.port(), id).next("status");
  raw_socket upload(s.port());
  upload.send("POST /api/v2/assets HTTP/1.1\r\nHost: " + s.portico.authority() +
              "\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 50000000\r\n\r\n"
              "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n" +
              std::string(20'000'000, 'x'));
  const auto begun = std::chrono::steady_clock::now();
  s.portico.stop();
  CHECK(std::chrono::steady_clock::now() - begun < 5s * slowness);
  for (event_reader& r : streams) {
    r.rest(1s);
    CHECK(r.ended_whole());
  }
  for (raw_socket& c : idle) CHECK(c.closes(1s));
  CHECK(fs::is_empty(spool));
}
