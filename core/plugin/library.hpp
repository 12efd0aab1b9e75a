// core/plugin/library.hpp - a plugin's shared library, mapped, and its description, checked.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <portico/abi/plugin.h>

#include "core/config/server_settings.hpp"

namespace portico::plugin {

// One declared key of a plugin's section, read from its table whatever the size of its entries.  Views live as long as
// the process.
struct declared_key {
  std::int32_t type = 0;
  const char* name = nullptr;
  const char* help = "";
  const char* fallback = nullptr;  // nullptr: must be set
  std::int64_t min = 0, max = 0;
};

// A description that was found sound.  Everything it points to lives in the library, which is never unmapped.
struct described {
  const portico_plugin* table = nullptr;
  std::string id, version, summary, homepage, build;
  std::uint32_t needs_minor = 0;
  std::vector<declared_key> keys;
  std::vector<std::string> provides, needs, uses;
  bool lists_routes = false;        // else routes is empty, and any may be registered
  std::vector<std::string> routes;  // "GET /jobs/{id}"
};

// Where the library of an enabled plugin is: its `library`, or NAME with the system's suffix in the directory.
std::string library_path(const config::settings&, const config::plugin_section&);
// Whether the plugin directory has a library of that name, which is never a way to one elsewhere.
bool is_in_directory(const config::settings&, const std::string& name);
// The names of all libraries in the directory, without suffix, sorted; none when it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

// Maps the library, which stays mapped for as long as the process lives, asks it for its description and checks that.
// Any thread, one at a time.  Throws refusal: `SUBJECT is not a portico plugin: ...`.
described load(const std::string& path, std::string_view subject);

// The checks of load on a description that is at hand; table may be nullptr.  Throws refusal.
described read_description(const portico_plugin* table, std::string_view subject);

}  // namespace portico::plugin
