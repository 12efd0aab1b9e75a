// core/config/flags.hpp - the command line: which flags there are and which keys they set.  Internal to core/config.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/config/layers.hpp"
#include "core/config/load.hpp"

namespace portico::config {

struct flag {
  std::string where;            // of its line in [flags]
  std::vector<target> targets;  // never empty
  bool takes_value = true;      // false: all targets are boolean
  bool list = false;            // all targets are lists: given again, it adds a part
  bool command = false;         // its one target was written with a !
};

using flag_table = std::map<std::string, flag, std::less<>>;

// What stands in the arguments and is needed before the flags are known.
struct early_arguments {
  bool help = false, version = false;
  std::string config;             // of --config; empty: not given
  const char* enabled = nullptr;  // of --set plugins.enabled=...; a view into the arguments
};

early_arguments scan(const std::vector<std::string>& arguments, std::vector<std::string>& problems);

// What the arguments ask for.
struct request {
  command what = command::run;
  std::string plugin;  // of command::once
};

// From the merged [flags] section.
flag_table read_flags(const section_keys&, std::vector<std::string>& problems);

// Reads the arguments with the flags known: the command, and what it and the flags set, put over `all`.  A target in a
// plugin that is not in `enabled` is skipped; a flag none of whose targets is left is a problem that names the plugin
// to enable.
request read_arguments(const std::vector<std::string>& arguments, const flag_table&,
                       const std::set<std::string>& enabled, const std::string& base, all_keys& all,
                       std::vector<std::string>& problems);

std::string help_text(const flag_table&, const std::string& default_ini);

}  // namespace portico::config
