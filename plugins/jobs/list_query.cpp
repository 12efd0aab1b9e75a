#include "plugins/jobs/list_query.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <portico/response.hpp>
#include <string>

#include "plugins/comfy/errors.hpp"

namespace jobs {
namespace {

portico::http_error bad(std::string message) {
  return portico::http_error(400, comfy::code::invalid_request, std::move(message));
}

std::string_view trim(std::string_view s) noexcept {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::size_t read_limit(std::string_view text) {
  std::size_t n = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (problem != std::errc() || stop != text.data() + text.size() || n < 1 || n > 100)
    throw bad("\"limit\" must be an integer from 1 to 100");
  return n;
}

std::vector<status> read_statuses(std::string_view list) {
  std::vector<status> wanted;
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string_view word = trim(list.substr(0, comma));
    const std::optional<status> s = parse_status(word);
    if (!s && !word.empty())
      throw bad("\"status\" knows queued, running, succeeded, canceling, canceled, failed and expired, not \"" +
                std::string(word) + "\"");
    if (s) wanted.push_back(*s);
    if (comma == std::string_view::npos) return wanted;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

bool list_query::wants(status s) const noexcept {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), s) != wanted.end();
}

list_query read_list_query(std::string_view limit, std::string_view statuses) {
  list_query out;
  out.limit = read_limit(limit);
  out.wanted = read_statuses(statuses);
  return out;
}

}  // namespace jobs
