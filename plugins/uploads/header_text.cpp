#include "plugins/uploads/header_text.hpp"

#include <algorithm>

namespace portico::uploads {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool same_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

header_parameters::header_parameters(std::string_view header) noexcept
    : value_(trimmed(header.substr(0, header.find(';')))),
      rest_(header.substr(std::min(header.find(';'), header.size()))) {}

bool header_parameters::next() {
  if (broken_) return false;
  do {
    if (rest_.empty()) return false;
    if (rest_.front() != ';') return broken_ = true, false;
    rest_.remove_prefix(1);
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  } while (rest_.empty() || rest_.front() == ';');  // empty parameters are skipped, as RFC 9110 wants

  const std::size_t equals = rest_.find_first_of("=;");
  if (equals == 0 || equals == std::string_view::npos || rest_[equals] != '=') return broken_ = true, false;
  name_ = trimmed(rest_.substr(0, equals));
  rest_.remove_prefix(equals + 1);
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  if (!rest_.empty() && rest_.front() == '"') return quoted();
  const std::size_t end = std::min(rest_.find(';'), rest_.size());
  text_ = trimmed(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return true;
}

bool header_parameters::quoted() {
  text_.clear();
  std::size_t i = 1;
  for (; i < rest_.size() && rest_[i] != '"'; ++i) {
    if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
    text_ += rest_[i];
  }
  if (i == rest_.size()) return broken_ = true, false;
  rest_.remove_prefix(i + 1);
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  return true;
}

}  // namespace portico::uploads
