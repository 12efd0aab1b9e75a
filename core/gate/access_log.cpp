#include "core/gate/access_log.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "core/base/text.hpp"
#include "core/http/router.hpp"

namespace portico::gate {
namespace {

constexpr std::size_t full = 16 * 1024;
constexpr std::chrono::seconds longest_wait{1};

// "2026-01-31T12:00:00" of a second since the epoch, by the civil calendar.  Needs no time zone, lock or locale.
void format_second(std::int64_t second, char (&out)[20]) noexcept {
  using namespace std::chrono;
  const sys_seconds at{seconds(second)};
  const sys_days day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  std::snprintf(
      out, sizeof out, "%04u-%02u-%02uT%02u:%02u:%02u", static_cast<unsigned>(static_cast<int>(date.year())) % 10'000,
      static_cast<unsigned>(date.month()) % 100, static_cast<unsigned>(date.day()) % 100,
      static_cast<unsigned>(clock.hours().count()) % 100, static_cast<unsigned>(clock.minutes().count()) % 100,
      static_cast<unsigned>(clock.seconds().count()) % 100);
}

}  // namespace

struct access_log::sheet {
  explicit sheet(loop::event_loop& l)
      : timer(
            l, [](void* self) { static_cast<sheet*>(self)->write(); }, this) {
    lines.reserve(full + 1024);
  }

  // Whole lines in one call, so that those of two loops do not mix.  A reader that has gone loses them.
  void write() noexcept {
    timer.cancel();
    if (lines.empty()) return;
    std::fwrite(lines.data(), 1, lines.size(), stdout);
    std::fflush(stdout);
    lines.clear();
  }

  void append_time() {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    if (now / 1000 != second) format_second(second = now / 1000, text);
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(now % 1000));
    (lines += text) += fraction;
  }

  loop::timer timer;
  std::string lines;
  std::int64_t second = -1;
  char text[20] = {};
};

access_log::access_log(std::span<loop::event_loop* const> loops) {
  for (loop::event_loop* l : loops) sheets_.push_back(std::make_unique<sheet>(*l));
}

access_log::~access_log() {
  for (const auto& s : sheets_) s->write();
}

void access_log::add(const http::exchange& x, int status, std::uint64_t body_bytes,
                     std::int64_t microseconds) noexcept {
  sheet& s = *sheets_[x.home().index()];
  const http::request_head& head = x.head();
  const std::string_view owner = x.matched() != nullptr ? std::string_view(x.matched()->owner) : "-";
  char numbers[80];
  std::snprintf(numbers, sizeof numbers, " %d %llu %lld.%03d ", status, static_cast<unsigned long long>(body_bytes),
                static_cast<long long>(microseconds / 1000), static_cast<int>(microseconds % 1000));
  if (s.lines.empty()) s.timer.start(longest_wait);
  s.append_time();
  for (std::string_view part : {x.id(), x.peer(), head.method}) (s.lines += ' ') += part;
  s.lines += ' ';
  base::append_escaped(s.lines, head.path);
  ((s.lines += numbers) += owner) += '\n';
  if (s.lines.size() >= full) s.write();
}

}  // namespace portico::gate
