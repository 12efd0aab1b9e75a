#include "plugins/jobs/clock.hpp"

namespace jobs {
namespace {

// The decimal digits of n, the last of them at `last`.
template <class N>
void put(char* last, int digits, N n) noexcept {
  for (; digits; --digits, n /= 10) *last-- = static_cast<char>('0' + n % 10);
}

}  // namespace

void append_time(std::string& out, std::int64_t us) {
  using namespace std::chrono;
  constexpr std::int64_t end_us = std::int64_t{253'402'300'800} * 1'000'000;  // the year 10000
  if (us < 0 || us >= end_us) {
    out += "null";
    return;
  }
  const sys_time<microseconds> t{microseconds(us)};
  const auto midnight = floor<days>(t);
  const year_month_day date(midnight);
  const hh_mm_ss clock(t - midnight);
  char text[] = "0000-00-00T00:00:00.000000Z";
  put(text + 3, 4, static_cast<int>(date.year()));
  put(text + 6, 2, static_cast<unsigned>(date.month()));
  put(text + 9, 2, static_cast<unsigned>(date.day()));
  put(text + 12, 2, clock.hours().count());
  put(text + 15, 2, clock.minutes().count());
  put(text + 18, 2, clock.seconds().count());
  put(text + 25, 6, clock.subseconds().count());
  out.append(text, sizeof text - 1);
}

}  // namespace jobs
