// plugins/uploads/clock.hpp - times as the contract writes them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portico::uploads {

// Microseconds since 1970-01-01T00:00:00Z.
using instant = std::int64_t;

constexpr instant second = 1'000'000;
constexpr instant day = 86'400 * second;

instant now();

// "2031-02-03T04:05:06.000007Z": always six digits, always UTC.
std::string to_text(instant);

// As HTTP headers write it: "Mon, 03 Feb 2031 04:05:06 GMT".
std::string to_http_date(instant);
// Nothing: it is not written in that form, or names no moment.  Two older forms that HTTP still mentions are not read.
std::optional<instant> from_http_date(std::string_view);

}  // namespace portico::uploads
