#include "plugins/uploads/served_as.hpp"

#include <algorithm>

#include "plugins/uploads/names.hpp"

namespace portico::uploads {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_token(std::string_view text) noexcept {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    const char l = lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos;
  });
}

std::string_view media_type(std::string_view content_type) noexcept {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  while (!type.empty() && (type.front() == ' ' || type.front() == '\t')) type.remove_prefix(1);
  return type;
}

}  // namespace

bool is_script_capable(std::string_view content_type) noexcept {
  const std::string_view type = media_type(content_type);
  const auto has = [&](std::string_view part) {
    return std::search(type.begin(), type.end(), part.begin(), part.end(),
                       [](char a, char b) { return lower(a) == b; }) != type.end();
  };
  const auto begins = [&](std::string_view part) {
    return type.size() >= part.size() &&
           std::equal(part.begin(), part.end(), type.begin(), [](char a, char b) { return a == lower(b); });
  };
  // By parts of the name, so that old and private spellings (x-javascript, vnd.something+xml) are caught too.
  return has("html") || has("xml") || has("svg") || has("javascript") || has("ecmascript") || has("jscript") ||
         has("livescript") || has("/css") || has("xsl") || has("shockwave") || begins("multipart/") ||
         begins("message/");
}

bool is_content_type(std::string_view text) noexcept {
  if (text.size() > 255) return false;
  if (std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; })) return false;
  const std::string_view type = media_type(text);
  const std::size_t slash = type.find('/');
  return slash != std::string_view::npos && is_token(type.substr(0, slash)) && is_token(type.substr(slash + 1));
}

std::string attachment(std::string_view file_name) {
  std::string out = "attachment; filename=\"", plain;
  for (const char c : file_name) {
    const bool odd = c < 0x20 || c == 0x7F || c == '"' || c == '\\' || c == '%';
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) plain += odd ? '_' : c;  // one mark for each character
  }
  out.append(plain).append("\"");
  if (plain != file_name) out.append("; filename*=UTF-8''").append(percent_encode(file_name));
  return out;
}

}  // namespace portico::uploads
