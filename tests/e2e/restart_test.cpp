// With a state directory: what a restart, and an end without notice, leave of jobs, keys and assets.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "event_reader.hpp"
#include "form.hpp"
#include "relay.hpp"
#include "stage.hpp"

using namespace e2e;
using deed = relay::deed;
namespace fs = std::filesystem;

namespace {

// A ComfyUI that stays, and portico before it, again and again with one state directory.
class lasting {
 public:
  explicit lasting(std::string more = {}) : more_(std::move(more)) { start(); }

  void start(const std::string& more_arguments = {}) {
    std::vector<std::string> arguments = {"--state-dir", state.string(), "--comfyui",
                                          between ? between->url() : standin.url()};
    if (!more_arguments.empty()) arguments.push_back(more_arguments);
    portico_.emplace("portico", "[server]\nthreads = 2\n" + more_, arguments);
  }
  void kill() { portico_->kill(), portico_.reset(); }
  void restart_after_a_kill() { kill(), start(); }
  process& portico() { return *portico_; }

  answer get(const std::string& target, const fields& more = {}) const {
    return e2e::get(portico_->port(), target, more);
  }
  answer post(const std::string& target, const std::string& body = {}, const fields& more = {}) const {
    return e2e::post(portico_->port(), target, body, more);
  }
  answer submit(const std::string& graph, const std::string& rest = {}, const std::string& key = {}) const {
    return post("/api/v2/jobs", "{\"workflow\":" + graph + rest + "}",
                key.empty() ? fields{} : fields{{"Idempotency-Key", key}});
  }
  answer job(const std::string& id) const { return get("/api/v2/jobs/" + id); }
  std::string comes_to(const std::string& id, const std::string& statuses) const {
    std::string now;
    eventually([&] {
      now = at(job(id).body, "status");
      return statuses.find(now) != std::string::npos;
    });
    return now;
  }
  void knobs(const std::string& json) const { CHECK(e2e::post(standin.port(), "/standin/knobs", json).status == 200); }
  int prompts(const std::string& id) const {
    const std::string n = at(e2e::get(standin.port(), "/standin/counters").body, "prompts." + id);
    return n[0] == '<' ? 0 : std::stoi(n);
  }

  const fs::path state = fs::path(temporary_folder()) / ("state-" + std::to_string(next_++));
  process standin{"standin", "[plugins]\nenabled = comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 10ms\n"};
  std::optional<relay> between;

 private:
  static inline int next_ = 0;
  std::string more_;
  std::optional<process> portico_;
};

std::string without_links(const std::string& job) {
  return at(job, "status") + at(job, "created_at") + at(job, "started_at") + at(job, "completed_at") +
         at(job, "metadata") + at(job, "priority") + at(job, "outputs.0.name") + at(job, "outputs.0.id") +
         at(job, "outputs_reused");
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

}  // namespace

TEST_CASE("after an end without notice jobs, keys, outputs and assets answer as before") {
  lasting s;
  std::vector<std::string> ids, before;
  for (int i = 0; i < 3; ++i) {
    const answer a =
        s.submit(quick_graph(i), R"(,"metadata":"char-0042/front","priority":7)", "key-" + std::to_string(i));
    REQUIRE(a.status == 201);
    ids.push_back(at(a.body, "id"));
    CHECK(s.comes_to(ids.back(), "succeeded") == "succeeded");
    before.push_back(without_links(s.job(ids.back()).body));
  }
  const std::string output = at(s.job(ids[0]).body, "outputs.0.id"),
                    bytes = s.get("/api/v2/assets/" + output + "/content").body;
  const answer uploaded =
      upload(s.portico().port(), form().field("file_path", "input/sub/a.png").field("tags", "t").file("bytes"));
  REQUIRE(uploaded.status == 201);
  const std::string asset = at(uploaded.body, "id"), hash = at(uploaded.body, "hash");

  s.restart_after_a_kill();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(without_links(s.job(ids[i]).body) == before[i]);
    CHECK(at(s.get("/api/v2/jobs/" + ids[i] + "/workflow").body, "workflow").size() > 10);
    CHECK(s.submit(quick_graph(), "", "key-" + std::to_string(i)).status == 422);
  }
  const answer list = s.get("/api/v2/jobs");
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(at(list.body, "jobs." + std::to_string(i) + ".id") == ids[2 - i]);
  CHECK(at(list.body, "truncated") == "false");
  CHECK(at(s.get("/api/v2/jobs?status=failed").body, "jobs") == "[]");
  CHECK(at(s.get("/api/v2/jobs?status=succeeded&limit=1").body, "jobs.0.id") == ids[2]);
  CHECK(s.get("/api/v2/assets/" + output + "/content").body == bytes);
  CHECK(at(s.get("/api/v2/assets/" + asset).body, "file_path") == "input/sub/a.png");
  CHECK(s.get("/api/v2/assets/" + asset + "/content").body == "bytes");
  CHECK(request(s.portico().port(), "HEAD", "/api/v2/assets/by-hash/" + hash).status == 200);
  event_reader events(s.portico().port(), ids[0]);
  CHECK(story(events.rest()) == "output|status succeeded|");
  CHECK(s.submit(quick_graph(9)).status == 201);
}

TEST_CASE("the state is for its owner alone, and holds no API key") {
  lasting s;
  s.submit(quick_graph(), R"(,"extra_data":{"api_key_comfy_org":"SECRET-1"})");
  CHECK(mode_of(s.state) == 0700);
  for (const auto& file : fs::directory_iterator(s.state)) {
    CHECK(mode_of(file.path()) == 0600);
    std::ifstream in(file.path(), std::ios::binary);
    const std::string all(std::istreambuf_iterator<char>(in), {});
    CHECK(all.find("SECRET-1") == std::string::npos);
  }
}

TEST_CASE("a job that runs while portico is away ends as it did, and its events go on") {
  lasting s;
  s.knobs(R"({"hang":true})");
  const std::string id = at(s.submit(sampling_graph()).body, "id");
  CHECK(s.comes_to(id, "running") == "running");
  s.restart_after_a_kill();
  CHECK(s.comes_to(id, "running") == "running");
  event_reader events(s.portico().port(), id);
  s.knobs(R"({"hang":false})");
  const std::vector<stream_event> rest = events.rest();
  CHECK(rest.back().data == R"({"status":"succeeded"})");
  s.kill();
  s.knobs(R"({"hang":true})");
  s.start();
  const std::string away = at(s.submit(sampling_graph(4, 2)).body, "id");
  CHECK(s.comes_to(away, "running") == "running");
  s.kill();
  s.knobs(R"({"hang":false})");
  s.start();
  CHECK(s.comes_to(away, "succeeded expired failed") == "succeeded");
  CHECK(s.prompts(away) == 1);
}

TEST_CASE("a job whose submission was cut off is looked for, and never sent twice") {
  lasting s;
  s.kill();
  s.between.emplace(s.standin.port(), [](const std::string&) { return deed::pass; });
  s.start();
  // ComfyUI takes the first without portico learning it, and never hears of the second.
  e2e::post(s.standin.port(), "/standin/knobs", R"({"faults":{"POST /prompt":{"after":true,"delay_ms":20000}}})");
  std::thread first([&] {
    try {
      s.submit(quick_graph(1), R"(,"metadata":"first")", "first");
    } catch (const std::exception&) {  // portico ends
    }
  });
  CHECK(eventually([&] { return at(e2e::get(s.standin.port(), "/history").body, "").size() > 2; }));
  s.between->behave(
      [](const std::string& head) { return head.compare(0, 12, "POST /prompt") ? deed::pass : deed::silence; });
  std::thread second([&] {
    try {
      s.submit(quick_graph(2), R"(,"metadata":"second")", "second");
    } catch (const std::exception&) {
    }
  });
  CHECK(eventually([&] { return at(s.get("/api/v2/jobs").body, "jobs.1.id")[0] != '<'; }));
  s.portico().kill();
  first.join();
  second.join();
  s.knobs(R"({"faults":null})");
  s.between->behave([](const std::string&) { return deed::pass; });
  s.kill();
  s.start();
  const std::string list = s.get("/api/v2/jobs").body, lost = at(list, "jobs.0.id"), taken = at(list, "jobs.1.id");
  CHECK(at(list, "jobs.0.metadata") == "second");
  CHECK(s.comes_to(taken, "succeeded failed expired") == "succeeded");
  CHECK(s.comes_to(lost, "succeeded failed expired") == "failed");
  CHECK(at(s.job(lost).body, "error.code") == "submission_lost");
  CHECK(s.submit(quick_graph(), "", "first").status == 422);
  CHECK(s.submit(quick_graph(), "", "second").status == 422);
  CHECK(s.prompts(taken) == 1);
  CHECK(s.prompts(lost) == 0);
}

TEST_CASE("a key that ComfyUI's refusal freed is free after a restart, too") {
  lasting s;
  CHECK(s.submit("{}", "", "k").status == 422);
  s.restart_after_a_kill();
  CHECK(at(s.get("/api/v2/jobs").body, "jobs") == "[]");
  CHECK(s.submit(quick_graph(), "", "k").status == 201);
}

TEST_CASE("a job that was cancelled while it waited stays cancelled") {
  lasting s;
  s.knobs(R"({"hang":true})");
  s.submit(sampling_graph());
  const std::string id = at(s.submit(quick_graph()).body, "id");
  CHECK(s.comes_to(id, "queued") == "queued");
  s.post("/api/v2/jobs/" + id + "/cancel");
  CHECK(s.comes_to(id, "canceled") == "canceled");
  s.restart_after_a_kill();
  CHECK(at(s.job(id).body, "status") == "canceled");
  s.knobs(R"({"hang":false})");
}

TEST_CASE("a deleted asset stays deleted, and one that shares its bytes keeps them") {
  lasting s;
  const std::string id = at(upload(s.portico().port(), "bytes", "a.png").body, "id");
  const std::string other = at(upload(s.portico().port(), "other", "b.png").body, "id");
  CHECK(request(s.portico().port(), "DELETE", "/api/v2/assets/" + id).status == 204);
  s.restart_after_a_kill();
  CHECK(s.get("/api/v2/assets/" + id).status == 404);
  CHECK(s.get("/api/v2/assets/" + other).status == 200);
  CHECK(outcome(upload(s.portico().port(), "bytes", "a.png")) == "201");
}

TEST_CASE("a lifetime that was lengthened is so after a restart") {
  lasting s;
  const auto with = [&](const std::string& seconds) {
    return upload(s.portico().port(), form().field("file_path", "a.png").field("expires_in", seconds).file("x"));
  };
  const std::string id = at(with("60").body, "id"), until = at(with("3600").body, "expires_at");
  s.restart_after_a_kill();
  CHECK(at(s.get("/api/v2/assets/" + id).body, "expires_at") == until);
}

TEST_CASE("a second portico on the same state is refused, and names the first") {
  lasting s;
  const finished other = run_portico(
      {"--state-dir", s.state.string(), "--port", "0", "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
  INFO(other.output);
  CHECK(other.code == 3);
  CHECK(other.output.find("in use by another portico (process " + std::to_string(s.portico().pid()) + ")") !=
        std::string::npos);
  CHECK(s.submit(quick_graph()).status == 201);
}

TEST_CASE("a state of a newer portico, and a file that is no state, are refused and left alone") {
  for (const bool newer : {true, false}) {
    lasting s;
    s.portico().stop();
    const fs::path file = s.state / "portico.sqlite3";
    // The header's fields, big-endian: user_version at 60, application_id at 68.
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(newer ? 60 : 68);
    out.write("\0\0\0\x63", 4);
    out.close();
    const auto size = fs::file_size(file);
    const finished again = run_portico(
        {"--state-dir", s.state.string(), "--port", "0", "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
    INFO(again.output);
    CHECK(again.code == 3);
    CHECK(again.output.find(newer ? "written by a newer portico" : "database of another program") != std::string::npos);
    CHECK(fs::file_size(file) == size);
  }
}

TEST_CASE("a state that is damaged is set aside and said, and the server serves") {
  lasting s;
  const std::string id = at(s.submit(quick_graph()).body, "id");
  s.portico().stop();
  const fs::path file = s.state / "portico.sqlite3";
  std::ofstream(file, std::ios::binary | std::ios::trunc) << std::string(8192, 'x');
  s.start();
  s.portico().allow_errors();
  CHECK(s.portico().log().find("is damaged") != std::string::npos);
  CHECK(s.submit(quick_graph()).status == 201);
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(s.state))
    kept += entry.path().filename().string().find("portico.sqlite3.damaged-") == 0;
  CHECK(kept == 1);
  CHECK(at(s.job(id).body, "status") == "succeeded");  // ComfyUI still knows it
}

TEST_CASE("a state directory that cannot be written is named, with what is wrong") {
  const fs::path file = fs::path(temporary_folder()) / "not-a-folder";
  std::ofstream(file) << "x";
  const finished f = run_portico(
      {"--state-dir", file.string(), "--port", "0", "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
  INFO(f.output);
  CHECK(f.code == 3);
  CHECK(f.output.find("directory " + file.string() + ": is not a folder") != std::string::npos);
}
