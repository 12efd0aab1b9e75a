// The command line: what is refused before anything is opened, with which exit code and which words.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "stage.hpp"

using namespace e2e;

namespace {

const std::vector<std::string> free_port = {"--set", "server.port=0", "--set", "plugins.enabled="};

finished run_with(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), free_port.begin(), free_port.end());
  return run_portico(arguments);
}
bool says(const finished& f, const std::string& words) { return f.output.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("an address that others can reach is refused without a token") {
  for (const char* host : {"0.0.0.0", "", "::", "192.0.2.1", "example.test"}) {
    const finished f = run_with({"--host", host});
    INFO(f.output);
    CHECK(f.code == 2);
    CHECK(says(f, "refusing to bind"));
  }
}

TEST_CASE("an origin that is not one is refused with its value") {
  for (const char* origin :
       {"*", "https://app.example.test/path", "https://app.example.test:99999", "https://user@app.example.test",
        "https://app.example.test:", "ftp://app.example.test", ""}) {
    const finished f = run_with({"--enable-cors-header", origin});
    INFO(origin << ": " << f.output);
    CHECK(f.code == 2);
    if (*origin) CHECK(says(f, "invalid --enable-cors-header"));
  }
}

TEST_CASE("help and version are good, unknown flags and commands are not") {
  CHECK(run_portico({"--help"}).code == 0);
  CHECK(says(run_portico({"--help"}), "--enable-cors-header"));
  CHECK(run_portico({"--version"}).code == 0);
  const finished typo = run_portico({"--prot", "1"});
  CHECK(typo.code == 2);
  CHECK(says(typo, "did you mean --port"));
  CHECK(run_portico({"serve"}).code == 2);
  CHECK(run_portico({"--port", "66000"}).code == 2);
}

TEST_CASE("an upstream that is no address is refused") {
  for (const char* url : {"not a url", "ftp://a", "http://", "http://a:99999"}) {
    const finished f = run_with({"--comfyui", url});
    INFO(url << ": " << f.output);
    CHECK(f.code == 2);
  }
}

TEST_CASE("a mistake in the configuration is named with its place and the nearest right word") {
  const std::string path = temporary_folder() + "/wrong.ini";
  std::ofstream(path) << "[server]\nthreads = 1\nprot = 1\n[upstream.comfyui]\nconnect_timeout = soon\n";
  const finished f = run_portico({"check", "--config", path});
  INFO(f.output);
  CHECK(f.code == 2);
  CHECK(says(f, path + ":3"));
  CHECK(says(f, "\"port\""));
  CHECK(says(f, path + ":5"));
}

TEST_CASE("check finds the default configuration good, and opens nothing") {
  const finished f = run_portico({"check", "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
  INFO(f.output);
  CHECK(f.code == 0);
  CHECK(says(f, "good"));
}

TEST_CASE("plugins lists what is found, with its keys") {
  const finished f = run_portico({"plugins", "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
  INFO(f.output);
  CHECK(f.code == 0);
  for (const char* word : {"health", "jobs", "uploads", "comfyui_standin", "step_delay"}) CHECK(says(f, word));
}

TEST_CASE("a port that is taken is an error of its own, in one line") {
  const process first("portico", "[plugins]\nenabled = health\n");
  const finished f = run_portico({"--port", std::to_string(first.port()), "--set", "plugins.enabled="});
  INFO(f.output);
  CHECK(f.code == 4);
  CHECK(says(f, std::to_string(first.port())));
  CHECK_FALSE(says(f, "terminate"));
}

TEST_CASE("a plugin that is not there keeps the server from starting") {
  const finished f = run_portico({"--set", "server.port=0", "--set", "plugins.enabled=no_such_plugin"});
  INFO(f.output);
  CHECK((f.code == 2 || f.code == 3));
  CHECK(says(f, "no_such_plugin"));
}

TEST_CASE("a command starts its plugin with those it uses, and no other, listens nowhere, and ends") {
  const process other("portico", "[plugins]\nenabled = health\n");
  const std::string folder = temporary_folder(), path = folder + "/commands.ini";
  std::ofstream(path) << "[server]\nhost = 0.0.0.0\nport = " << other.port()
                      << "\n[plugins]\ndirectory = " << PORTICO_PLUGINS
                      << "\nenabled = health, jobs, uploads, job_store_sqlite\n"
                      << "[plugin.job_store_sqlite]\ndirectory = " << folder << "/commanded\n"
                      << "[plugin.uploads]\nbase_dir = /not/there\n"
                      << "[flags]\nbase = !plugin.uploads.base_dir\nmodels = !plugin.model_upload.base_dir\n";
  const auto command = [&](const char* name, const std::string& value) {
    return run_portico({name, value, "--config", path});
  };
  const finished alone = command("models", folder);  // neither uploads, which would refuse, nor the store
  INFO(alone.output);
  CHECK(alone.code == 0);
  CHECK(alone.output == "done\n");
  CHECK_FALSE(std::filesystem::exists(folder + "/commanded"));
  const finished with_store = command("base", folder);
  INFO(with_store.output);
  CHECK(with_store.code == 0);
  CHECK(with_store.output == "done\n");
  CHECK(std::filesystem::exists(folder + "/commanded"));
  const finished refused = command("base", "/not/there/either");
  INFO(refused.output);
  CHECK(refused.code == 3);
  CHECK(says(refused, "base_dir /not/there/either"));
  CHECK_FALSE(says(refused, "done"));
}

TEST_CASE("import-state says what it needs") {
  CHECK(says(run_portico({"--help"}), "import-state VALUE"));
  const finished bare = run_portico({"import-state"});
  CHECK(bare.code == 2);
  CHECK(bare.output == "portico: command import-state: its value is missing\n");
  const std::string folder = temporary_folder();
  const finished empty = run_portico({"import-state", folder, "--state-dir", folder + "/imported", "--set",
                                      std::string("plugins.directory=") + PORTICO_PLUGINS});
  INFO(empty.output);
  CHECK(empty.code == 3);
  CHECK(says(empty, "did not start: import_state: " + folder + "/state.sqlite3 is not there"));
}

TEST_CASE("the flags of the reference work") {
  const process portico(
      "portico", "",
      {"--comfyui", "http://127.0.0.1:1/", "--host", "127.0.0.1", "--token", "t", "--allow-insecure-bind",
       "--enable-cors-header", "https://app.example.test", "--set", "plugins.enabled=health"});
  const answer a = get(portico.port(), "/api/v2/health", {{"Origin", "https://app.example.test"}});
  CHECK(a.status == 200);
  CHECK(at(a.body, "upstream") == "http://127.0.0.1:1");
  CHECK(a.header("access-control-allow-origin") == "https://app.example.test");
}

TEST_CASE("localhost is both loopback addresses") {
  const process portico("portico", "[server]\nhost = localhost\n[plugins]\nenabled = health\n");
  CHECK(get(portico.port(), "/api/v2/health").status == 200);
}
