#include "plugins/comfyui_standin/multipart.hpp"

#include <algorithm>
#include <utility>

namespace standin {
namespace {

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// The value at the front of s, quoted or up to the next ';'; s goes on behind it.
std::string take_value(std::string_view& s) {
  std::string value;
  if (s.empty() || s.front() != '"') {
    const std::size_t end = std::min(s.find(';'), s.size());
    value = trimmed(s.substr(0, end));
    s.remove_prefix(end);
    return value;
  }
  std::size_t i = 1;
  for (; i < s.size() && s[i] != '"'; ++i) {
    // Only a quote and a backslash are ever escaped: browsers send C:\dir as it is.
    if (s[i] == '\\' && i + 1 < s.size() && (s[i + 1] == '"' || s[i + 1] == '\\')) ++i;
    value += s[i];
  }
  s.remove_prefix(std::min(i + 1, s.size()));
  return value;
}

// The value of one parameter of a header such as `form-data; name="x"`.
std::optional<std::string> parameter(std::string_view header, std::string_view wanted) {
  std::string_view rest = header;
  while (true) {
    const std::size_t semicolon = rest.find(';');
    if (semicolon == std::string_view::npos) return std::nullopt;
    rest = trimmed(rest.substr(semicolon + 1));
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name = lower(trimmed(rest.substr(0, equals)));
    rest.remove_prefix(equals + 1);
    std::string value = take_value(rest);
    if (name == wanted) return value;
  }
}

// %22, %0D and %0A are how browsers write what may not stand in a quoted name.
std::string without_escapes(std::string s) {
  for (const auto& [escape, plain] : {std::pair<const char*, char>{"%22", '"'}, {"%0D", '\r'}, {"%0A", '\n'}})
    for (std::size_t at = 0; (at = s.find(escape, at)) != std::string::npos; ++at) s.replace(at, 3, 1, plain);
  return s;
}

// Reads the header lines of a part; false when a line is not a header.
bool read_headers(std::string_view lines, form_part& part) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string name = lower(trimmed(line.substr(0, colon)));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "content-disposition") {
      part.name = without_escapes(parameter(value, "name").value_or(""));
      part.filename = without_escapes(parameter(value, "filename").value_or(""));
    } else if (name == "content-type") {
      part.content_type = value;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> boundary_of(std::string_view content_type) {
  if (lower(trimmed(content_type.substr(0, content_type.find(';')))) != "multipart/form-data") return std::nullopt;
  std::optional<std::string> boundary = parameter(content_type, "boundary");
  return boundary && !boundary->empty() ? boundary : std::nullopt;
}

std::optional<std::vector<form_part>> parse_form(std::string_view body, std::string_view boundary) {
  const std::string opening = "--" + std::string(boundary), between = "\r\n" + opening;
  std::vector<form_part> parts;
  std::size_t at = body.compare(0, opening.size(), opening) == 0 ? 0 : body.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  at += at ? between.size() : opening.size();
  for (;;) {
    if (body.substr(at, 2) == "--") return parts;
    while (at < body.size() && (body[at] == ' ' || body[at] == '\t')) ++at;
    if (body.substr(at, 2) != "\r\n") return std::nullopt;
    at += 2;
    const std::size_t next = body.find(between, at - 2);
    if (next == std::string_view::npos) return std::nullopt;
    form_part part;
    const std::string_view whole = next < at ? std::string_view() : body.substr(at, next - at);
    const bool no_headers = whole.substr(0, 2) == "\r\n";
    const std::size_t blank = no_headers ? 0 : whole.find("\r\n\r\n");
    if (blank == std::string_view::npos || !read_headers(whole.substr(0, blank), part)) return std::nullopt;
    part.bytes = whole.substr(blank + (no_headers ? 2 : 4));
    parts.push_back(std::move(part));
    at = next + between.size();
  }
}

const form_part* find_part(const std::vector<form_part>& parts, std::string_view name) {
  for (const form_part& part : parts)
    if (part.name == name) return &part;
  return nullptr;
}

}  // namespace standin
