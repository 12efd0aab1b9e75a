// core/config/load.hpp - from what an operator says to the settings of the server.
//
// Four layers, each over the one before it: the built-in default, the ini file, the environment, the command line.  A
// key is replaced as a whole.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/server_settings.hpp"

namespace portico::config {

// The settings cannot be used.  problems: one line each, with its place, without secrets.
class invalid : public std::runtime_error {
 public:
  explicit invalid(std::vector<std::string> found);
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  std::vector<std::string> problems_;
};

// What the program is told from outside.
struct sources {
  std::string builtin;                                           // ini text that holds without any file
  std::string default_ini;                                       // read when nothing names a file and it exists
  std::vector<std::pair<std::string, std::string>> environment;  // the variables that begin with PORTICO_
  std::vector<std::string> arguments;                            // of the command line, without the program's name
  std::string working_directory;                                 // absolute
  std::string plugin_directory;                                  // absolute; used when nothing says `directory`
};

// once: starts one plugin alone, with those it uses, and ends.
enum class command { run, check, plugins, help, version, once };

struct program {
  command what = command::run;
  settings config;   // empty for version
  std::string help;  // for help: the text
};

// Arguments: [run|check|plugins|COMMAND VALUE] [--FLAG VALUE | --FLAG=VALUE]...  FLAG is config, set, help, version, or
// one of [flags]; a flag whose targets are all boolean takes no value.  COMMAND is one of [flags] with a ! before its
// key: it sets that, enables the plugin it belongs to, and starts no other (settings::only).  The file is what --config
// names, else $PORTICO_CONFIG, else default_ini.  Environment: PORTICO_SECTION__KEY, the section's dot written as __.
// Throws invalid with all that is wrong, not only the first.  Reads files, has no other effect.
program load(const sources&);

}  // namespace portico::config
