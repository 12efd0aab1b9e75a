#include "core/config/schema.hpp"

#include <array>
#include <charconv>
#include <filesystem>
#include <limits>

#include "core/base/text.hpp"

namespace portico::config {
namespace {

struct unit {
  std::string_view name;
  std::int64_t factor;
};
constexpr unit size_units[] = {{"", 1},          {"k", 1ll << 10}, {"K", 1ll << 10}, {"M", 1ll << 20}, {"m", 1ll << 20},
                               {"G", 1ll << 30}, {"g", 1ll << 30}, {"T", 1ll << 40}, {"t", 1ll << 40}};
constexpr unit duration_units[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out = "\"";
  out += text.substr(0, longest);
  if (text.size() > longest) out += "...";
  return out += '"';
}

// A frequent slip: `port = 8189 # the port`.
std::string comment_hint(std::string_view text) {
  const bool slip = text.find(" #") != std::string_view::npos || text.find(" ;") != std::string_view::npos;
  return slip ? "; a comment must stand on a line of its own" : "";
}

std::string refusal(std::string_view text, std::string_view what, std::string_view allowed) {
  std::string out = in_quotes(text);
  out += " is not ";
  out += what;
  out += "; allowed: ";
  out += allowed;
  return out += comment_hint(text);
}

std::string with_unit(kind k, std::int64_t number) {
  if (k == kind::size)
    for (const unit& u : {unit{"T", 1ll << 40}, unit{"G", 1ll << 30}, unit{"M", 1ll << 20}, unit{"k", 1ll << 10}})
      if (number != 0 && number % u.factor == 0) return std::to_string(number / u.factor) + std::string(u.name);
  if (k == kind::duration)
    for (const unit& u :
         {unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"m", 60'000}, unit{"s", 1000}, unit{"ms", 1}})
      if (number % u.factor == 0) return std::to_string(number / u.factor) + std::string(u.name);
  return std::to_string(number);
}

std::string range_text(kind k, std::int64_t min, std::int64_t max) {
  if (max == std::numeric_limits<std::int64_t>::max()) return with_unit(k, min) + " or more";
  return with_unit(k, min) + " to " + with_unit(k, max);
}

std::string_view allowed_form(kind k) {
  switch (k) {
    case kind::integer:
      return "a whole number";
    case kind::size:
      return "a number of bytes, with k, M, G or T for powers of 1024, such as 64k";
    default:
      return "a number with ms, s, m, h or d, such as 250ms or 30s";
  }
}

std::string_view number_name(kind k) {
  switch (k) {
    case kind::integer:
      return "a whole number";
    case kind::size:
      return "a size";
    default:
      return "a duration";
  }
}

// text as NUMBER[UNIT], with units from the table; false when it has another form or does not fit.
bool parse_with_unit(std::string_view text, std::span<const unit> units, bool may_be_negative, std::int64_t& out) {
  if (text.empty() || (!may_be_negative && (text[0] < '0' || text[0] > '9'))) return false;
  if (text[0] == '+' && text.size() > 1 && base::is_digit(text[1])) text.remove_prefix(1);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc{}) return false;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const unit& u : units)
    if (u.name == suffix) return !__builtin_mul_overflow(out, u.factor, &out);
  return suffix.empty() && out == 0;
}

value parse_number(kind k, std::string_view text, std::int64_t min, std::int64_t max) {
  constexpr unit plain[] = {{"", 1}};
  value v;
  v.text = text;
  const std::span<const unit> units = k == kind::size       ? std::span<const unit>(size_units)
                                      : k == kind::duration ? std::span<const unit>(duration_units)
                                                            : std::span<const unit>(plain);
  const bool bounded = min != 0 || max != 0;
  if (!parse_with_unit(text, units, k == kind::integer, v.number))
    v.error = refusal(text, number_name(k),
                      bounded && k == kind::integer ? range_text(k, min, max) : std::string(allowed_form(k)));
  else if (bounded && (v.number < min || v.number > max))
    v.error = in_quotes(text) + " is out of range; allowed: " + range_text(k, min, max);
  return v;
}

value parse_boolean(std::string_view text) {
  value v;
  v.text = text;
  const std::string lower = base::lower(text);
  for (std::string_view yes : {"yes", "true", "on", "1"})
    if (lower == yes) {
      v.number = 1;
      return v;
    }
  for (std::string_view no : {"no", "false", "off", "0"})
    if (lower == no) return v;
  v.error = refusal(text, "yes or no", "yes, no, true, false, on, off, 1, 0");
  return v;
}

value parse_list(std::string_view text) {
  value v;
  v.text = text;
  if (text.empty()) return v;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = base::trim(text.substr(0, comma));
    if (item.empty()) {
      v.error = in_quotes(v.text) + " has an empty part; allowed: parts between commas";
      return v;
    }
    v.items.emplace_back(item);
    if (comma == std::string_view::npos) return v;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string_view kind_name(kind k) noexcept {
  constexpr std::array<std::string_view, 9> names = {"text", "secret",   "path",     "integer", "boolean",
                                                     "size", "duration", "upstream", "list"};
  const auto at = static_cast<std::size_t>(k);
  return at < names.size() ? names[at] : "unknown";
}

value parse_value(kind k, std::string_view text, std::int64_t min, std::int64_t max, std::string_view base) {
  value v;
  v.text = text;
  switch (k) {
    case kind::text:
    case kind::secret:
      return v;
    case kind::path:
      if (!text.empty()) v.text = absolute_path(text, base);
      return v;
    case kind::upstream:
      if (text.empty()) v.error = "no upstream is named; allowed: the NAME of an [upstream.NAME] section";
      return v;
    case kind::boolean:
      return parse_boolean(text);
    case kind::list:
      return parse_list(text);
    case kind::integer:
    case kind::size:
    case kind::duration:
      return parse_number(k, text, min, max);
  }
  v.error = "is of a type this server does not know";
  return v;
}

std::string suggestion(std::string_view written, std::span<const std::string_view> known) {
  std::string out;
  if (const std::string_view near = base::nearest(written, known); !near.empty())
    out += "; did you mean \"" + std::string(near) + "\"?";
  if (known.empty()) return out;
  out += out.empty() ? "; known: " : " known: ";
  for (std::size_t i = 0; i < known.size(); ++i) (out += i == 0 ? "" : ", ") += known[i];
  return out;
}

std::string absolute_path(std::string_view path, std::string_view base) {
  const std::filesystem::path joined = std::filesystem::path(base) / std::filesystem::path(path);
  std::string out = joined.lexically_normal().string();
  while (out.size() > 1 && (out.back() == '/' || out.back() == '\\')) out.pop_back();
  return out;
}

}  // namespace portico::config
