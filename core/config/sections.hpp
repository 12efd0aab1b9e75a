// core/config/sections.hpp - the keys of the server's own sections: their types, defaults, ranges and help.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/config/schema.hpp"
#include "core/config/server_settings.hpp"

namespace portico::config {

struct key_info {
  std::string_view name;
  kind type;
  std::string_view fallback;  // as an operator would write it
  std::int64_t min, max;      // of the number; both 0: no bounds
  std::string_view help;
};

// Of "server", "upstream.NAME", "plugins" and "plugin.NAME" (only what the server itself reads there); empty for
// others.
std::span<const key_info> known_keys(std::string_view section);
const key_info* find_key(std::string_view section, std::string_view key);

// Puts a parsed value in its place.  The rest of the checks a key needs are made here: the answer is why the value was
// refused, or empty.
std::string apply(std::string_view key, value&&, server_section&);
std::string apply(std::string_view key, value&&, upstream_section&);

}  // namespace portico::config
