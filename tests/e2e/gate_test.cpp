// What every request passes: names of requests, the access log, limits for each client, proxies, and the stop.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "stage.hpp"

using namespace e2e;

namespace {

const std::string plugins = "[plugins]\nenabled = health\n";

// The lines of the log that are JSON objects.
std::vector<std::string> json_lines(const process& p) {
  std::vector<std::string> out;
  std::istringstream text(p.log());
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("{")) out.push_back(line);
  return out;
}

std::string health(const process& p, const std::string& more = {}) {
  return "GET /api/v2/health HTTP/1.1\r\nHost: " + p.authority() + "\r\n" + more + "\r\n";
}

}  // namespace

TEST_CASE("a request keeps the name its client gives it, or gets one, and the answer tells which") {
  process portico("portico", plugins);
  CHECK(get(portico.port(), "/api/v2/health", {{"X-Request-Id", "job-42/a:b"}}).header("x-request-id") == "job-42/a:b");
  const std::string first = get(portico.port(), "/api/v2/health").header("x-request-id");
  CHECK(first.size() == 19);
  CHECK(get(portico.port(), "/nothing").header("x-request-id") != first);
  for (const std::string& odd : {std::string("a b"), std::string("\"x\""), std::string(129, 'x')}) {
    const std::string given = get(portico.port(), "/api/v2/health", {{"X-Request-Id", odd}}).header("x-request-id");
    CHECK(given != odd);
    CHECK(given.size() == 19);
  }
}

TEST_CASE("the access log as JSON has a valid line for each request, and for what is refused before it is one") {
  process portico("portico", "[server]\nthreads = 1\naccess_log = json\n" + plugins);
  CHECK(get(portico.port(), "/api/v2/health", {{"X-Request-Id", "mine"}}).status == 200);
  CHECK(get(portico.port(), "/a%22?secret=1").status == 404);
  raw_socket odd(portico.port());
  odd.send("GET /\xff\xfe HTTP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n");
  odd.receive_answer();
  raw_socket noise(portico.port());
  noise.send("noise\r\n\r\n");
  CHECK(noise.receive_answer().status == 400);
  REQUIRE(eventually([&] { return json_lines(portico).size() == 4; }));
  const std::vector<std::string> lines = json_lines(portico);
  CHECK(at(lines[0], "id") == "mine");
  CHECK(at(lines[0], "client") == "127.0.0.1");
  CHECK(at(lines[0], "method") == "GET");
  CHECK(at(lines[0], "path") == "/api/v2/health");
  CHECK(at(lines[0], "route") == "/api/v2/health");
  CHECK(at(lines[0], "plugin") == "health");
  CHECK(at(lines[0], "status") == "200");
  CHECK(std::stoi(at(lines[0], "bytes")) > 20);
  CHECK(std::stod(at(lines[0], "ms")) >= 0);
  CHECK(at(lines[0], "time").size() == 24);
  for (const std::string& line : lines) CHECK(at(line, "status") != "<not JSON>");
  CHECK(at(lines[1], "route") == "null");
  CHECK(lines[1].find("secret") == std::string::npos);
  CHECK(at(lines[3], "status") == "400");
  CHECK(at(lines[3], "client") == "127.0.0.1");
  CHECK(at(lines[3], "method") == "null");
}

TEST_CASE("the access log as text has a line for what the engine refuses") {
  process portico("portico", "[server]\naccess_log = text\n" + plugins);
  raw_socket noise(portico.port());
  noise.send("GET / HTTP/1.1\r\n\r\n");
  CHECK(noise.receive_answer().status == 400);
  CHECK(eventually([&] { return portico.log().find(" - 127.0.0.1 - - 400 ") != std::string::npos; }));
}

TEST_CASE("a client that asks too often is told to wait, and claims no key") {
  stage s("[server]\nrequests_per_client = 1\nburst_per_client = 3\n");
  for (int i = 0; i < 3; ++i) CHECK(s.get("/api/v2/health").status == 200);
  const answer a = s.submit(quick_graph(), {}, {{"Idempotency-Key", "k"}});
  CHECK(a.status == 429);
  CHECK(at(a.body, "error.code") == "rate_limited");
  const int wait = std::stoi(a.header("retry-after"));
  CHECK(wait >= 1);
  CHECK(wait <= 2);
  answer again;
  CHECK(eventually([&] { return (again = s.submit(quick_graph(), {}, {{"Idempotency-Key", "k"}})).status != 429; }));
  CHECK(again.status == 201);
}

TEST_CASE("behind a trusted proxy each of its clients is counted for itself") {
  stage s("[server]\nrequests_per_client = 1\nburst_per_client = 1\nforwarded = 127.0.0.0/8\n");
  for (const char* client : {"192.0.2.1", "192.0.2.2", "2001:db8::1"})
    CHECK(s.get("/api/v2/health", {{"X-Forwarded-For", client}}).status == 200);
  CHECK(s.get("/api/v2/health", {{"X-Forwarded-For", "192.0.2.1"}}).status == 429);
}

TEST_CASE("connections above a client's share are closed at once, and one that ends makes room") {
  process portico("portico", "[server]\nthreads = 2\nconnections_per_client = 3\n" + plugins);
  std::vector<raw_socket> mine;
  for (int i = 0; i < 3; ++i) {
    mine.emplace_back(portico.port());
    mine.back().send(health(portico));
    CHECK(mine.back().receive_answer().status == 200);
  }
  CHECK(raw_socket(portico.port()).closes(5s));
  CHECK(portico.log().find("connections_per_client") != std::string::npos);
  mine.pop_back();
  CHECK(eventually([&] {
    raw_socket next(portico.port());
    try {
      next.send(health(portico));
      return next.receive_answer().status == 200;
    } catch (const std::runtime_error&) {  // closed: the room is not there yet
      return false;
    }
  }));
}

TEST_CASE("links follow a trusted proxy, and nobody else") {
  const std::string shaped = "https://comfy.example.test/api/v2/jobs/";
  const fields said = {{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "comfy.example.test"}};
  {
    const stage s("[server]\nforwarded = 127.0.0.1\n");
    CHECK(at(s.submit(quick_graph(), {}, said).body, "urls.self").starts_with(shaped));
  }
  const stage s;
  CHECK(at(s.submit(quick_graph(), {}, said).body, "urls.self").starts_with(s.portico.url()));
}

TEST_CASE("Server-Timing tells how long an answer took, where the ini asks for it") {
  {
    process portico("portico", "[server]\nserver_timing = yes\n" + plugins);
    CHECK(get(portico.port(), "/api/v2/health").header("server-timing").starts_with("total;dur="));
  }
  process portico("portico", plugins);
  CHECK_FALSE(get(portico.port(), "/api/v2/health").has("server-timing"));
}

TEST_CASE("the token may stand in a file, and is not in the log") {
  const std::string path = temporary_folder() + "/token";
  std::ofstream(path) << "s3cret\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  process portico("portico", "[server]\nlog_level = debug\ntoken_file = " + path + "\n[plugins]\nenabled = jobs\n");
  CHECK(get(portico.port(), "/api/v2/jobs").status == 401);
  CHECK(get(portico.port(), "/api/v2/jobs", {{"Authorization", "Bearer s3cret"}}).status != 401);
  CHECK(portico.log().find("s3cret") == std::string::npos);
}

TEST_CASE("half a head does not hold up the end, and the rest of one that comes at once is still answered") {
  process portico("portico", "[server]\ndrain_timeout = 10s\n" + plugins);
  raw_socket half(portico.port()), late(portico.port());
  half.send("GET /api/v2/health HT");
  late.send("GET /api/v2/health HT");
  CHECK(get(portico.port(), "/api/v2/health").status == 200);
  const auto begun = std::chrono::steady_clock::now();
  portico.signal(SIGTERM);
  REQUIRE(eventually([&] { return portico.log().find("stopping") != std::string::npos; }));
  late.send("TP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n");
  CHECK(late.receive_answer().status == 200);
  CHECK(half.receive_answer().status == 408);
  CHECK(portico.wait(5s * slowness) == 0);
  CHECK(std::chrono::steady_clock::now() - begun < 5s * slowness);
}
