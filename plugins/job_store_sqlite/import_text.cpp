#include "plugins/job_store_sqlite/import_text.hpp"

#include <chrono>

#include "plugins/comfy/json_text.hpp"

namespace job_store {
namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Takes so many decimal digits from the front; -1: they are not there.
int take_number(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) return -1;
  int n = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    n = n * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return n;
}

bool take(std::string_view& text, std::string_view what) noexcept {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

}  // namespace

std::optional<std::int64_t> read_time(std::string_view text) noexcept {
  const int year = take_number(text, 4);
  const bool month_follows = take(text, "-");
  const int month = take_number(text, 2);
  const bool day_follows = take(text, "-");
  const int day = take_number(text, 2);
  const bool hour_follows = take(text, "T");
  const int hour = take_number(text, 2);
  const bool minute_follows = take(text, ":");
  const int minute = take_number(text, 2);
  const bool second_follows = take(text, ":");
  const int second = take_number(text, 2);
  const int fraction = take(text, ".") ? take_number(text, 6) : 0;
  if (!month_follows || !day_follows || !hour_follows || !minute_follows || !second_follows || text != "+00:00" ||
      fraction < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || month < 1 ||
      day < 1)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1970 || !date.ok()) return std::nullopt;
  const std::int64_t seconds = std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86'400 +
                               hour * 3600 + minute * 60 + second;
  const std::int64_t time = seconds * 1'000'000 + fraction;
  return time > 0 ? std::optional(time) : std::nullopt;
}

std::optional<std::string> read_hex(std::string_view text) {
  if (text.size() % 2) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t sequence = comfy::json::utf8_sequence(text);
    if (sequence == 0) return false;
    text.remove_prefix(sequence);
  }
  return true;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, longest)) out += c < 0x20 || c > 0x7E ? '?' : c;
  return out += text.size() > longest ? "...\"" : "\"";
}

}  // namespace job_store
