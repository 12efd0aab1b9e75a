#include "core/base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace portico::base {
namespace {

constexpr char hex[] = "0123456789abcdef";
constexpr char upper_hex[] = "0123456789ABCDEF";

bool continues(std::string_view text, std::size_t at) noexcept {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// The length of the well-formed UTF-8 character at the start of text, or 0.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (!continues(text, 1)) return 0;
  if (first < 0xE0) return 2;
  const auto second = static_cast<unsigned char>(text[1]);
  if (first < 0xF0) {
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    return continues(text, 2) ? 3 : 0;
  }
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return continues(text, 2) && continues(text, 3) ? 4 : 0;
}

// U+0080..U+009F: a terminal may take them for commands.
bool is_c1(std::string_view character) noexcept {
  return character.size() == 2 && character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
}

// The length of what may be shown unchanged at the start of text, or 0.
std::size_t plain_length(std::string_view text) noexcept {
  if (is_control(text[0])) return 0;
  const std::size_t length = utf8_length(text);
  return is_c1(text.substr(0, length)) ? 0 : length;
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

bool is_unreserved(char c) noexcept {
  const char l = lower(c);
  return is_digit(c) || (l >= 'a' && l <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
}

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && starts_with_ignoring_case(a, b);
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) noexcept {
  if (text.size() < prefix.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view cut(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return head;
}

bool percent_decode(std::string_view segment, std::string& out) {
  const std::size_t before = out.size();
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      out += segment[i];
      continue;
    }
    const int high = i + 2 < segment.size() ? hex_value(segment[i + 1]) : -1;
    const int low = i + 2 < segment.size() ? hex_value(segment[i + 2]) : -1;
    if (high < 0 || low < 0) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += upper_hex[byte >> 4];
    out += upper_hex[byte & 15];
  }
  return out;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_json(std::string& out, std::string_view text) {
  for (const char c : is_utf8(text) ? std::string(text) : escaped(text)) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[c & 15];
    } else {
      out += c;
    }
  }
}

bool is_plain(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = plain_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t plain = plain_length(text);
    if (plain == 0) append_escape(out, text[0]);
    out.append(text.substr(0, plain));
    text.remove_prefix(std::max<std::size_t>(plain, 1));
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text);
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t apart = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (apart > limit) return limit + 1;
  // Three rows of the usual table: two are enough for Levenshtein, the third is for swapped neighbours.
  std::vector<std::size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) up[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    std::swap(two_up, up);
    std::swap(up, row);
  }
  return std::min(up[b.size()], limit + 1);
}

std::string_view nearest(std::string_view written, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const std::string_view name : known) {
    const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
    const std::size_t distance = edit_distance(written, name, limit);
    if (distance > limit || distance >= best_distance) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

}  // namespace portico::base
