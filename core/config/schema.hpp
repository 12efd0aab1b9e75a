// core/config/schema.hpp - the types a value in the ini can have, one parser for all of them, and helpers for error
// texts.
//
// Used for core's own sections and, by core/plugin, for the keys a plugin's table declares.  Pure; any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace portico::config {

// The first eight have the numbers of the plugin interface (PORTICO_SETTING_*); core/plugin asserts that they agree.
enum class kind : std::int32_t {
  text = 0,
  secret = 1,    // text; no error text or listing ever shows it
  path = 2,      // text, made absolute
  integer = 3,   // decimal, a sign allowed
  boolean = 4,   // yes no true false on off 1 0; number is 1 or 0
  size = 5,      // bytes, with k, M, G or T for powers of 1024: 512, 64k, 10M
  duration = 6,  // a number with ms, s, m, h or d; number is in milliseconds.  A bare 0 is allowed
  upstream = 7,  // the name of an [upstream.NAME] section; whoever knows the sections looks it up
  list = 8,      // parts between commas, trimmed; an empty text is an empty list, an empty part is an error
};

std::string_view kind_name(kind) noexcept;  // "text", "duration", as `portico plugins` prints it

struct value {
  std::string text;  // as written; a path: absolute and without "." and ".."; an upstream: the name
  std::int64_t number = 0;
  std::vector<std::string> items;  // of a list
  std::string error;               // why it was refused, without its place; empty when the value is good

  explicit operator bool() const noexcept { return error.empty(); }
};

// min and max bound the number, in bytes and milliseconds for size and duration; both 0: no bounds.  base: the folder a
// relative path starts from; with an empty base a relative path stays as it is.  An empty path stays empty.  An empty
// text is good for text, secret, path and list, and refused for the others.
value parse_value(kind, std::string_view text, std::int64_t min = 0, std::int64_t max = 0, std::string_view base = {});

// `; did you mean "workers"? known: store, workers` - what follows `unknown key "worker"`.  Without near or known names
// the part is left out.
std::string suggestion(std::string_view written, std::span<const std::string_view> known);

// A path as an absolute one without "." and "..", against base.  Symbolic links are left alone.
std::string absolute_path(std::string_view path, std::string_view base);

}  // namespace portico::config
