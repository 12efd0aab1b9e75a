// plugins/job_store_sqlite/import_text.hpp - how the reference proxy writes times and bytes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace job_store {

// "2031-02-03T04:05:06.000007+00:00", without the fraction where it is zero.  Microseconds since 1970, and after it.
std::optional<std::int64_t> read_time(std::string_view) noexcept;

// Two hexadecimal digits for each byte.
std::optional<std::string> read_hex(std::string_view);

bool is_utf8(std::string_view) noexcept;

// In quotes, for a message: on one line, and not endless.
std::string in_quotes(std::string_view);

}  // namespace job_store
