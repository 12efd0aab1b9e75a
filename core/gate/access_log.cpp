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

// What a line tells; an empty text: unknown.
struct access_log::entry {
  std::string_view id, client, method, path, route, plugin;
  int status;
  std::uint64_t bytes;
  std::int64_t microseconds;
};

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

  void add(log_format format, const entry& e) {
    if (lines.empty()) timer.start(longest_wait);
    format == log_format::json ? add_json(e) : add_text(e);
    if (lines.size() >= full) write();
  }

 private:
  void append_time() {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    if (now / 1000 != second) format_second(second = now / 1000, text);
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(now % 1000));
    (lines += text) += fraction;
  }

  void append_number(const char* before, std::uint64_t n) { (lines += before) += std::to_string(n); }

  void append_ms(const char* before, std::int64_t us) {
    char number[32];
    std::snprintf(number, sizeof number, "%lld.%03d", static_cast<long long>(us / 1000), static_cast<int>(us % 1000));
    (lines += before) += number;
  }

  void add_text(const entry& e) {
    const auto known = [](std::string_view part) { return part.empty() ? std::string_view("-") : part; };
    append_time();
    for (const std::string_view part : {e.id, e.client, e.method}) (lines += ' ') += known(part);
    base::append_escaped(lines += ' ', known(e.path));
    append_number(" ", static_cast<std::uint64_t>(e.status));
    append_number(" ", e.bytes);
    append_ms(" ", e.microseconds);
    ((lines += ' ') += known(e.plugin)) += '\n';
  }

  void append_member(const char* name, std::string_view value) {
    ((lines += ",\"") += name) += "\":";
    if (value.empty()) {
      lines += "null";
      return;
    }
    base::append_json(lines += '"', value);
    lines += '"';
  }

  void add_json(const entry& e) {
    lines += "{\"time\":\"";
    append_time();
    lines += '"';
    append_member("id", e.id);
    append_member("client", e.client);
    append_member("method", e.method);
    append_member("path", e.path);
    append_member("route", e.route);
    append_member("plugin", e.plugin);
    append_number(",\"status\":", static_cast<std::uint64_t>(e.status));
    append_number(",\"bytes\":", e.bytes);
    append_ms(",\"ms\":", e.microseconds);
    lines += "}\n";
  }

  loop::timer timer;
  std::string lines;
  std::int64_t second = -1;
  char text[20] = {};
};

access_log::access_log(log_format format, std::span<loop::event_loop* const> loops) : format_(format) {
  for (loop::event_loop* l : loops) sheets_.push_back(std::make_unique<sheet>(*l));
}

access_log::~access_log() {
  for (const auto& s : sheets_) s->write();
}

void access_log::write(loop::event_loop& here, const entry& e) noexcept {
  try {
    sheets_[here.index()]->add(format_, e);
  } catch (...) {  // no memory for the line; the server goes on
  }
}

void access_log::add(const http::exchange& x, int status, std::uint64_t body_bytes,
                     std::int64_t microseconds) noexcept {
  const http::request_head& head = x.head();
  const http::route* route = x.matched();
  write(x.home(), {x.id(), x.peer(), head.method, head.path, route ? std::string_view(route->pattern) : "",
                   route ? std::string_view(route->owner) : "", status, body_bytes, microseconds});
}

void access_log::add(const http::refused_request& r) noexcept {
  write(r.home, {{}, r.peer, {}, {}, {}, {}, r.status, r.body_bytes, 0});
}

}  // namespace portico::gate
