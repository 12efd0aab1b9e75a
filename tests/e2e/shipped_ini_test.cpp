// etc/portico.ini beside the plugins it speaks of: every key they declare stands there, with the default they declare.
#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "process.hpp"

using namespace e2e;

namespace {

using keys = std::map<std::string, std::string>;  // name, default

std::string shipped() {
  std::ifstream in(PORTICO_ETC_INI);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The keys of one section of an ini, whether commented out as `#key = value` or not.
keys in_ini(const std::string& text, const std::string& section) {
  keys out;
  bool inside = false;
  std::istringstream lines(text);
  const std::regex entry("#?([a-z_]+) =(?: (.*))?");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) inside = line == "[" + section + "]";
    std::smatch found;
    if (inside && std::regex_match(line, found, entry)) out[found[1]] = found[2];
  }
  return out;
}

// What `portico plugins` lists: "    NAME  TYPE, default VALUE: help".
std::map<std::string, keys> of_plugins() {
  const finished f = run_portico({"plugins", "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
  REQUIRE(f.code == 0);
  std::map<std::string, keys> out;
  std::string plugin;
  std::istringstream lines(f.output);
  const std::regex head("([a-z_]+) [0-9.]+, enabled"), entry("    ([a-z_]+) +[a-z]+, default (.*?): .*"),
      other("[a-z_]+( [^ ]+)?, not enabled");
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, head))
      plugin = found[1];
    else if (std::regex_match(line, other))
      plugin.clear();
    else if (!plugin.empty() && std::regex_match(line, found, entry))
      out[plugin][found[1]] = found[2] == "empty" ? "" : found[2].str();
  }
  return out;
}

}  // namespace

TEST_CASE("the shipped ini shows each key of the plugins it enables, with the plugin's own default") {
  const std::map<std::string, keys> plugins = of_plugins();
  REQUIRE(plugins.size() >= 3);
  for (const auto& [name, declared] : plugins) {
    INFO(name);
    CHECK(in_ini(shipped(), "plugin." + name) == declared);
  }
}

TEST_CASE("the shipped ini with every comment taken off is good") {
  const std::string path = temporary_folder() + "/all.ini";
  std::ofstream(path) << std::regex_replace(shipped(), std::regex("(^|\n)#([a-z_]+ =)"), "$1$2");
  const finished f =
      run_portico({"check", "--config", path, "--set", std::string("plugins.directory=") + PORTICO_PLUGINS});
  INFO(f.output);
  CHECK(f.code == 0);
}
