// The live feed: one socket for all jobs, what a poll shows while a job runs, and a feed that fails.
#include <catch2/catch.hpp>
#include <thread>

#include "relay.hpp"
#include "stage.hpp"

using namespace e2e;
using deed = relay::deed;

namespace {

std::string sockets(const stage& s, const char* which) { return at(s.counters(), std::string("websockets.") + which); }
bool for_socket(const std::string& head) { return head.compare(0, 7, "GET /ws") == 0; }

const char* const standin_ini =
    "[server]\nthreads = 1\n[plugins]\nenabled = comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 20ms\n";

std::string portico_ini(const relay& between) {
  return "[server]\nthreads = 2\n[plugins]\nenabled = health, jobs, uploads\n[upstream.comfyui]\nurl = " +
         between.url() + '\n';
}

// Submits a job through the relay's portico and waits for its end; how long that took.
std::chrono::milliseconds run_to_end(const process& portico, const std::string& graph, std::chrono::seconds within) {
  const auto begun = std::chrono::steady_clock::now();
  const answer a = post(portico.port(), "/api/v2/jobs", "{\"workflow\":" + graph + "}");
  REQUIRE(a.status == 201);
  const std::string path = "/api/v2/jobs/" + at(a.body, "id");
  CHECK(eventually([&] { return at(get(portico.port(), path).body, "status") == "succeeded"; }, within));
  CHECK(at(get(portico.port(), path).body, "outputs.0.node_id") == "9");
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
}

}  // namespace

TEST_CASE("a poll shows live progress, which only grows, and when the job began") {
  const stage s;
  s.knobs("{\"step_delay_ms\":40}");
  CHECK(eventually([&] { return sockets(s, "open") == "1"; }));
  const std::string id = s.submitted(sampling_graph(15));
  double last = 0;
  int values = 0;
  bool named_node = false, counted_steps = false, began = false;
  CHECK(eventually([&] {
    const answer a = s.job(id);
    const std::string status = at(a.body, "status"), value = at(a.body, "progress.value");
    if (status == "running") began = began || at(a.body, "started_at") != "null";
    if (value != "<absent>") {
      const double now = std::stod(value);
      CHECK(now >= last);
      CHECK(now <= 1);
      CHECK(std::stoi(at(a.body, "progress.nodes_done")) <= std::stoi(at(a.body, "progress.nodes_total")));
      values += now > last;
      last = now;
      named_node = named_node || at(a.body, "progress.current_node") == "3";
      counted_steps = counted_steps || at(a.body, "progress.steps") == "15";
    }
    return status == "succeeded";
  }));
  CHECK(values >= 3);
  CHECK(named_node);
  CHECK(counted_steps);
  CHECK(began);
}

TEST_CASE("one socket carries all jobs") {
  const stage s;
  for (int i = 0; i < 5; ++i) s.done(quick_graph(i));
  CHECK(sockets(s, "opened") == "1");
  CHECK(sockets(s, "open") == "1");
}

TEST_CASE("outputs are listed while the job still runs") {
  const stage s;
  CHECK(eventually([&] { return sockets(s, "open") == "1"; }));
  s.knobs("{\"history_delay_ms\":0,\"hang\":true}");
  // The quick picture is saved before the sampler, which hangs, has its turn: targets run in the order of the graph.
  const std::string quick = quick_graph(77);
  std::string graph = sampling_graph(3, 77);
  graph = "{\"100\":" + at(quick, "1") +
          ",\"101\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":[\"100\",0],\"filename_prefix\":\"early\"}}," +
          graph.substr(1);
  const std::string id = s.submitted(graph);
  CHECK(eventually([&] { return at(s.job(id).body, "outputs.0.name") == "early_00001_.png"; }));
  CHECK(at(s.job(id).body, "status") == "running");
  s.knobs("{\"hang\":false}");
  const answer end = s.wait_for(id, "succeeded");
  CHECK(at(end.body, "outputs.1.node_id") == "9");
}

TEST_CASE("a job that has succeeded but is not yet in the history is not called expired or lost") {
  const stage s;
  s.knobs("{\"history_delay_ms\":800}");
  const std::string id = s.submitted(quick_graph());
  std::string seen;
  CHECK(eventually([&] {
    seen = at(s.job(id).body, "status");
    CHECK((seen == "queued" || seen == "running" || seen == "succeeded"));
    return seen == "succeeded";
  }));
}

TEST_CASE("when ComfyUI is started anew the feed comes back") {
  const stage s;
  s.done(quick_graph(1));
  CHECK(post(s.standin.port(), "/standin/restart", "").status == 204);
  CHECK(eventually([&] { return sockets(s, "opened") == "2" && sockets(s, "open") == "1"; }, 15s));
  s.done(quick_graph(2));
}

TEST_CASE("a feed that is refused leaves polling, which tells the truth") {
  const stage s;
  s.knobs("{\"websocket\":\"refuse\"}");
  CHECK(post(s.standin.port(), "/standin/restart", "").status == 204);
  s.done(sampling_graph(3));
}

TEST_CASE("a socket that went deaf but answers pings is replaced") {
  const stage s;
  CHECK(eventually([&] { return sockets(s, "open") == "1"; }));
  s.done(quick_graph(1));
  // A second socket with portico's client id takes its entry over and drops it when it ends: portico's hears no more.
  const std::string client = at(at(s.counters(), "last_prompt"), "client_id");
  {
    raw_socket thief(s.standin.port());
    thief.send("GET /ws?clientId=" + client + " HTTP/1.1\r\nHost: " + s.standin.authority() +
               "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
               "dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    CHECK(thief.receive(12) == "HTTP/1.1 101");
    CHECK(eventually([&] { return sockets(s, "open") == "2"; }));
    thief.reset();
  }
  CHECK(eventually([&] { return sockets(s, "open") == "1"; }));
  CHECK(sockets(s, "opened") == "2");
  s.done(quick_graph(2));  // its status never comes, and that is noticed
  CHECK(eventually([&] { return sockets(s, "opened") == "3" && sockets(s, "open") == "1"; }, 15s));
  s.done(quick_graph(3));
}

TEST_CASE("a socket that is open and dead does not hide the end of a job") {
  const process standin("standin", standin_ini);
  relay between(standin.port(), [](const std::string& head) { return for_socket(head) ? deed::deaf : deed::pass; });
  const process portico("portico", portico_ini(between));
  CHECK(eventually([&] { return between.sockets_opened() >= 1; }));
  CHECK(run_to_end(portico, sampling_graph(20), 15s) < 15s);
}

TEST_CASE("a socket that is reset after each message is opened anew with patience") {
  const process standin("standin", standin_ini);
  relay between(standin.port(), [](const std::string& head) { return for_socket(head) ? deed::reset : deed::pass; });
  const process portico("portico", portico_ini(between));
  CHECK(eventually([&] { return between.sockets_opened() >= 1; }));
  const int before = between.sockets_opened();
  const auto begun = std::chrono::steady_clock::now();
  run_to_end(portico, sampling_graph(20), 15s);
  std::this_thread::sleep_until(begun + 10s);
  CHECK(between.sockets_opened() - before <= 10);
}

TEST_CASE("previews that nobody watches do not hold ComfyUI up") {
  const stage s;
  s.knobs("{\"preview_bytes\":4000000,\"step_delay_ms\":0}");
  const auto begun = std::chrono::steady_clock::now();
  s.done(sampling_graph(40));
  CHECK(std::chrono::steady_clock::now() - begun < 10s * slowness);
}
