// etc/portico.ini is the built-in default and the reference of all keys: it must be both.
#include <fstream>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>

#include "core/config/load.hpp"
#include "core/config/sections.hpp"
#include "golden.hpp"

namespace {

using namespace portico;

std::string shipped() {
  std::ifstream in(PORTICO_ETC_INI);
  std::stringstream text;
  text << in.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

config::program load(const std::string& builtin, std::vector<std::string> arguments = {}) {
  config::sources from;
  from.builtin = builtin;
  from.arguments = std::move(arguments);
  from.working_directory = "/";
  from.plugin_directory = "/default/plugins";
  return config::load(from);
}

std::string problems_of(std::vector<std::string> arguments) {
  try {
    load(shipped(), std::move(arguments));
  } catch (const config::invalid& bad) {
    return bad.what();
  }
  return {};
}

}  // namespace

TEST_CASE("the built-in default serves 127.0.0.1:8189 in front of 127.0.0.1:8188") {
  const config::settings s = load(shipped()).config;
  CHECK(s.server.host == "127.0.0.1");
  CHECK(s.server.port == 8189);
  CHECK(s.server.token.empty());
  REQUIRE(s.upstreams.size() == 1);
  CHECK(s.upstreams[0].url == "http://127.0.0.1:8188");
  CHECK(s.warnings.empty());
}

TEST_CASE("the keys that the shipped ini leaves commented out stand there with their defaults") {
  const std::string uncommented = std::regex_replace(shipped(), std::regex("(^|\n)#([a-z_]+ =)"), "$1$2");
  CHECK(uncommented != shipped());
  // Keys of plugins are the plugins' to judge; here they would only be listed.
  const auto own = [](const std::string& text) {
    return std::regex_replace(text, std::regex("plugin\\.[^\n]*\n"), "");
  };
  CHECK(own(golden::text_of(load(uncommented))) == own(golden::text_of(load(shipped()))));
}

TEST_CASE("the shipped ini shows every key of the server and of upstreams") {
  const std::string text = shipped();
  const std::size_t upstream = text.find("[upstream."), plugins = text.find("[plugins]");
  const std::string server_part = text.substr(0, upstream), upstream_part = text.substr(upstream, plugins - upstream);
  for (const config::key_info& key : config::known_keys("server")) {
    INFO(key.name);
    CHECK(std::regex_search(server_part, std::regex("\n#? ?" + std::string(key.name) + " =")));
  }
  for (const config::key_info& key : config::known_keys("upstream.x")) {
    INFO(key.name);
    CHECK(std::regex_search(upstream_part, std::regex("\n#?" + std::string(key.name) + " =")));
  }
}

TEST_CASE("each default the tables name is the one the settings have") {
  const config::settings plain = load("").config;
  config::settings set;
  for (const config::key_info& key : config::known_keys("server")) {
    if (key.name == "token") continue;  // empty is no value for it
    INFO(key.name);
    config::value v = config::parse_value(key.type, key.fallback, key.min, key.max);
    REQUIRE(v.error == "");
    CHECK(config::apply(key.name, std::move(v), set.server) == "");
  }
  config::program a, b;
  a.config.server = plain.server;
  b.config.server = set.server;
  CHECK(golden::text_of(a) == golden::text_of(b));
}

TEST_CASE("the flags of the command line reach their keys") {
  const config::settings s =
      load(shipped(), {"--comfyui", "http://10.0.0.5:8188/", "--host=0.0.0.0", "--port", "9000", "--token", "a=b",
                       "--enable-cors-header", "https://A.example.test/", "--enable-cors-header",
                       "http://b.example.test:80", "--allow-insecure-bind"})
          .config;
  CHECK(s.upstreams.at(0).url == "http://10.0.0.5:8188");
  CHECK(s.server.host == "0.0.0.0");
  CHECK(s.server.port == 9000);
  CHECK(s.server.token == "a=b");
  CHECK(s.server.allow_insecure_bind);
  CHECK(s.server.cors == std::vector<std::string>{"https://a.example.test", "http://b.example.test"});
}

TEST_CASE("a state directory enables the store") {
  const config::settings s = load(shipped(), {"--state-dir", "/tmp/x"}).config;
  CHECK(s.plugins.back().name == "job_store_sqlite");
  CHECK(load(shipped()).config.plugins.size() + 1 == s.plugins.size());
}

TEST_CASE("an origin that cannot be allowed is refused in the words of its flag") {
  for (const char* bad : {"*", "https://a.test/path", "https://a.test:port", "https://a.test:", "ftp://a.test",
                          "https://user@a.test", "https://a.test?x", "https://a.test#x", "a.test"}) {
    INFO(bad);
    CHECK_THAT(problems_of({"--enable-cors-header", bad}), Catch::StartsWith("invalid --enable-cors-header \""));
  }
}

TEST_CASE("the help lists every flag and where the ini is looked for") {
  config::sources from;
  from.builtin = shipped();
  from.default_ini = "/etc/portico/portico.ini";
  from.arguments = {"--help"};
  const config::program p = config::load(from);
  CHECK(p.what == config::command::help);
  for (const char* flag :
       {"--comfyui ", "--host ", "--port ", "--token ", "--comfyui-base-dir ", "--max-upload-mb ", "--state-dir ",
        "--allow-insecure-bind ", "--enable-cors-header ", "--config ", "--set ", "--version "})
    CHECK_THAT(p.help, Catch::Contains(flag));
  CHECK_THAT(p.help, Catch::Contains("/etc/portico/portico.ini"));
}
