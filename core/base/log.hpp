// core/base/log.hpp - the one way a line gets into the log.  Any thread.
#pragma once
#include <string_view>

namespace portico::base {

enum class level { debug, info, warning, error };

// One line; control characters in text are escaped, and more than 16 KiB are cut.  source names the part that speaks:
// "http", "plugin.jobs".
void log(level, std::string_view source, std::string_view text) noexcept;

// Lines below this level cost one load.  Default: info.
bool logs(level) noexcept;
void set_log_level(level) noexcept;

// Where lines go.  Called with the lock held, so lines never mix: a sink must not log.  text is escaped already and
// lives as long as the call.  Default: stderr as "2026-01-31T12:00:00.123Z INFO  http: text", one write each.  Give
// nullptr for the default.
using log_sink = void (*)(level, std::string_view source, std::string_view text);
void set_log_sink(log_sink) noexcept;

}  // namespace portico::base
