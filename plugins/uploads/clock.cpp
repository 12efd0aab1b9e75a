#include "plugins/uploads/clock.hpp"

#include <chrono>
#include <cstdio>

namespace portico::uploads {
namespace {

using microseconds = std::chrono::microseconds;

constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct parts {
  std::chrono::year_month_day date;
  std::chrono::weekday weekday;
  std::chrono::hh_mm_ss<microseconds> time;
};

parts split(instant at) {
  const std::chrono::sys_time<microseconds> point{microseconds(at)};
  const auto midnight = std::chrono::floor<std::chrono::days>(point);
  return {midnight, midnight, std::chrono::hh_mm_ss<microseconds>(point - midnight)};
}

}  // namespace

instant now() {
  return std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string to_text(instant at) {
  const parts p = split(at);
  char out[48];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(p.date.year()),
                static_cast<unsigned>(p.date.month()), static_cast<unsigned>(p.date.day()),
                static_cast<int>(p.time.hours().count()), static_cast<int>(p.time.minutes().count()),
                static_cast<int>(p.time.seconds().count()), static_cast<int>(p.time.subseconds().count()));
  return out;
}

std::string to_http_date(instant at) {
  const parts p = split(at);
  char out[48];
  std::snprintf(out, sizeof out, "%s, %02u %s %04d %02d:%02d:%02d GMT", days[p.weekday.c_encoding()],
                static_cast<unsigned>(p.date.day()), months[static_cast<unsigned>(p.date.month()) - 1],
                static_cast<int>(p.date.year()), static_cast<int>(p.time.hours().count()),
                static_cast<int>(p.time.minutes().count()), static_cast<int>(p.time.seconds().count()));
  return out;
}

std::optional<instant> from_http_date(std::string_view text) {
  const auto number = [&](std::size_t at, std::size_t digits) {
    int n = 0;
    for (std::size_t i = at; i < at + digits; ++i)
      n = text[i] >= '0' && text[i] <= '9' ? n * 10 + (text[i] - '0') : -100000;
    return n;
  };
  if (text.size() != 29) return std::nullopt;
  unsigned month = 1;
  while (month <= 12 && text.substr(8, 3) != months[month - 1]) ++month;
  const int dom = number(5, 2), year = number(12, 4), hour = number(17, 2), minute = number(20, 2), sec = number(23, 2);
  if (month > 12 || dom < 1 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || sec < 0 || sec > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(static_cast<unsigned>(dom))};
  if (!date.ok()) return std::nullopt;
  const instant at =
      std::chrono::sys_days(date).time_since_epoch().count() * day + (hour * 3600 + minute * 60 + sec) * second;
  // Written again, it shows whether the rest was in its place too.
  return sec == 60 || to_http_date(at) == text ? std::optional(at) : std::nullopt;
}

}  // namespace portico::uploads
