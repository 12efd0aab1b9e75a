// core/config/layers.hpp - what the layers say, put on top of each other, before it is understood.  Internal to
// core/config.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/ini.hpp"

namespace portico::config {

// A key as the topmost layer that has it says it.
struct assignment {
  std::string value;
  std::string where;     // "portico.ini:12", "environment PORTICO_SERVER__PORT", "flag --port"
  std::string base;      // folder for relative paths
  bool builtin = false;  // only the built-in default says it
  bool from_flag = false;
};

struct section_keys : std::map<std::string, assignment, std::less<>> {
  std::string where;  // of its line in a file; empty when only the environment or a flag names it
};
using all_keys = std::map<std::string, section_keys, std::less<>>;

// One target of a flag, as [flags] names it: "plugin.jobs.keep" is key "keep" of section "plugin.jobs".
struct target {
  std::string section, key;
  bool enables = false;  // written with a + before it: the flag enables the plugin of that section as well
  bool command = false;  // written with a ! before it: no flag but a command, for the plugin of that section alone
};

// Splits at the last dot; both empty when there is none.
target split_target(std::string_view text);

// "plugin.jobs" → "jobs"; empty for other sections.
std::string_view plugin_of(std::string_view section) noexcept;

void add_document(const ini_document&, const std::string& base, bool builtin, all_keys&);

void add_environment(const std::vector<std::pair<std::string, std::string>>&, const std::string& base, all_keys&,
                     std::vector<std::string>& problems);

// Places that say `[section] key` in messages: "portico.ini:12: [server] port".  A flag's own name is enough for it.
std::string place(const assignment&, std::string_view section, std::string_view key);

}  // namespace portico::config
