// plugins/job_store_sqlite/import_text.hpp - how the reference proxy writes ids, times and bytes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/job_store_sqlite/records.hpp"

namespace job_store {

// "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b": lower case, with its dashes.
std::optional<job_id> read_uuid(std::string_view) noexcept;

// "2031-02-03T04:05:06.000007+00:00", without the fraction where it is zero.  Microseconds since 1970, and after it.
std::optional<std::int64_t> read_time(std::string_view) noexcept;

// Two hexadecimal digits for each byte.
std::optional<std::string> read_hex(std::string_view);

bool is_utf8(std::string_view) noexcept;

// In quotes, for a message: on one line, and not endless.
std::string in_quotes(std::string_view);

}  // namespace job_store
