#include "core/base/log.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/base/system.hpp"
#include "core/base/text.hpp"

namespace portico::base {
namespace {

// A longer text is cut, so that one line can never fill a disk or memory.
constexpr std::size_t longest_text = std::size_t{16} * 1024;

std::atomic<level> lowest{level::info};

struct output {
  std::mutex lock;
  log_sink sink = nullptr;
  std::string text;  // reused, so that a line costs no allocation
  std::string line;
};

// Never destroyed: threads may still log while the process ends.
union immortal_output {
  output value{};
  immortal_output() {}
  ~immortal_output() {}
};

output& the_output() noexcept {
  static immortal_output held;
  return held.value;
}

const char* padded_name(level l) noexcept {
  switch (l) {
    case level::debug:
      return "DEBUG ";
    case level::info:
      return "INFO  ";
    case level::warning:
      return "WARN  ";
    case level::error:
      return "ERROR ";
  }
  return "ERROR ";
}

void append_number(std::string& out, unsigned value, int digits) {
  char text[10];
  for (int i = digits; i-- > 0; value /= 10) text[i] = static_cast<char>('0' + value % 10);
  out.append(text, static_cast<std::size_t>(digits));
}

// 2026-01-31T12:00:00.123Z
void append_time(std::string& out, std::chrono::system_clock::time_point now) {
  using namespace std::chrono;
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(floor<milliseconds>(now - day));
  append_number(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out += '-';
  append_number(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_number(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_number(out, static_cast<unsigned>(time.hours().count()), 2);
  out += ':';
  append_number(out, static_cast<unsigned>(time.minutes().count()), 2);
  out += ':';
  append_number(out, static_cast<unsigned>(time.seconds().count()), 2);
  out += '.';
  append_number(out, static_cast<unsigned>(time.subseconds().count()), 3);
  out += 'Z';
}

void write_line(std::string& line, level l, std::string_view source, std::string_view text) {
  line.clear();
  append_time(line, std::chrono::system_clock::now());
  line += ' ';
  line += padded_name(l);
  append_escaped(line, source);
  line += ": ";
  line += text;
  line += '\n';
  write_stderr(line);
}

// text as it may be shown: itself when it is plain, else escaped into room.
std::string_view shown(std::string_view text, std::string& room) {
  if (text.size() <= longest_text && is_plain(text)) return text;
  room.clear();
  append_escaped(room, text.substr(0, longest_text));
  if (text.size() > longest_text) room += " ... (" + std::to_string(text.size() - longest_text) + " more bytes)";
  return room;
}

}  // namespace

bool logs(level l) noexcept { return l >= lowest.load(std::memory_order_relaxed); }

void set_log_level(level l) noexcept { lowest.store(l, std::memory_order_relaxed); }

void set_log_sink(log_sink sink) noexcept {
  output& out = the_output();
  const std::lock_guard hold(out.lock);
  out.sink = sink;
}

void log(level l, std::string_view source, std::string_view text) noexcept {
  if (!logs(l)) return;
  try {
    output& out = the_output();
    const std::lock_guard hold(out.lock);
    const std::string_view safe = shown(text, out.text);
    if (out.sink) {
      out.sink(l, source, safe);
    } else {
      write_line(out.line, l, source, safe);
    }
  } catch (...) {  // out of memory, or the sink threw: the line is lost, the server is not
  }
}

}  // namespace portico::base
