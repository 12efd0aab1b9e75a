// core/plugin/keys.hpp - the values of a plugin's own keys, checked against what its description declares.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/config/server_settings.hpp"
#include "core/plugin/library.hpp"

namespace portico::plugin {

struct key_value {
  std::string text;
  std::int64_t number = 0;
};

// Every declared key with its value, the default where the operator says nothing.  An upstream's text is its url.
// Throws refusal: `portico.ini:12: [plugin.jobs] unknown key "worker"; did you mean "workers"? known: ...`.
std::map<std::string, key_value, std::less<>> read_keys(const config::settings&, const config::plugin_section&,
                                                        const described&);

}  // namespace portico::plugin
