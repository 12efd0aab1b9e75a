// portico/settings.hpp - declaring the keys of the plugin's ini section.  Values are read with host::text and friends.
#pragma once
#include <cstdint>

#include "abi/plugin.h"

namespace portico {
inline namespace v1 {

using setting = portico_setting;

namespace detail {
constexpr setting make(int32_t type, const char* name, const char* fallback, const char* help, int64_t min = 0,
                       int64_t max = 0) noexcept {
  return setting{sizeof(setting), type, name, help, fallback, min, max};
}
}  // namespace detail

// fallback is written as an operator would write it; nullptr: the operator must set the key.
constexpr setting text(const char* name, const char* fallback, const char* help) noexcept {
  return detail::make(PORTICO_SETTING_TEXT, name, fallback, help);
}
constexpr setting secret(const char* name, const char* fallback, const char* help) noexcept {
  return detail::make(PORTICO_SETTING_SECRET, name, fallback, help);
}
constexpr setting path(const char* name, const char* fallback, const char* help) noexcept {
  return detail::make(PORTICO_SETTING_PATH, name, fallback, help);
}
// The operator names an [upstream.NAME] section; host::text gives its url, without a trailing slash.
constexpr setting upstream(const char* name, const char* fallback, const char* help) noexcept {
  return detail::make(PORTICO_SETTING_UPSTREAM, name, fallback, help);
}
constexpr setting flag(const char* name, const char* fallback, const char* help) noexcept {
  return detail::make(PORTICO_SETTING_BOOLEAN, name, fallback, help);
}
// min and max bound the value, in bytes and milliseconds for the last two; both 0: no bounds.
constexpr setting integer(const char* name, const char* fallback, const char* help, int64_t min = 0,
                          int64_t max = 0) noexcept {
  return detail::make(PORTICO_SETTING_INTEGER, name, fallback, help, min, max);
}
constexpr setting size(const char* name, const char* fallback, const char* help, int64_t min = 0,
                       int64_t max = 0) noexcept {
  return detail::make(PORTICO_SETTING_SIZE, name, fallback, help, min, max);
}
constexpr setting duration(const char* name, const char* fallback, const char* help, int64_t min = 0,
                           int64_t max = 0) noexcept {
  return detail::make(PORTICO_SETTING_DURATION, name, fallback, help, min, max);
}

}  // namespace v1
}  // namespace portico
