#include "plugins/uploads/conditions.hpp"

#include <algorithm>
#include <utility>

#include "plugins/uploads/clock.hpp"
#include "plugins/uploads/header_text.hpp"
#include "plugins/uploads/served_as.hpp"

namespace portico::uploads {

std::optional<byte_range> range_of(const request& req) {
  if (req.method() != "GET") return std::nullopt;  // the only method for which a range has a meaning
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < req.head().header_count; ++i) count += view(req.head().headers[i].name) == "range";
  return count == 1 ? parse_range(req.header("range")) : std::nullopt;
}

bool is_the_version(std::string_view if_range, std::string_view etag, std::string_view last_modified) noexcept {
  if (if_range.empty() || if_range.starts_with("W/")) return false;
  return if_range == (if_range.front() == '"' ? etag : last_modified);
}

namespace {

// Whether f is true for one of the entity tags between commas.
template <class F>
bool any_tag(std::string_view tags, F f) {
  while (!tags.empty()) {
    const std::size_t comma = std::min(tags.find(','), tags.size());
    if (f(trimmed(tags.substr(0, comma)))) return true;
    tags.remove_prefix(std::min(comma + 1, tags.size()));
  }
  return false;
}

}  // namespace

bool is_another_version(std::string_view if_match, std::string_view if_unmodified_since, std::string_view etag,
                        std::string_view last_modified) noexcept {
  if (if_match.empty()) {
    const auto since = from_http_date(if_unmodified_since), changed = from_http_date(last_modified);
    return since && changed && *changed > *since;
  }
  if (trimmed(if_match) == "*") return false;
  const bool strong = !etag.empty() && !etag.starts_with("W/");
  return !any_tag(if_match, [&](std::string_view tag) { return strong && tag == etag; });
}

http_error another_version() {
  return http_error(412, "precondition_failed", "the file is another version than the one that was asked for");
}

bool has_it_already(std::string_view if_none_match, std::string_view if_modified_since, std::string_view etag,
                    std::string_view last_modified) noexcept {
  if (if_none_match.empty()) {
    const auto since = from_http_date(if_modified_since), changed = from_http_date(last_modified);
    return since && changed && *changed <= *since;
  }
  if (trimmed(if_none_match) == "*") return true;
  const auto weak = [](std::string_view tag) { return tag.starts_with("W/") ? tag.substr(2) : tag; };
  return any_tag(if_none_match, [&](std::string_view tag) { return !etag.empty() && weak(tag) == weak(etag); });
}

void label(response& head, std::string type, std::string disposition, std::string_view file_name) {
  if (is_script_capable(type)) {
    type = "application/octet-stream";
    disposition = attachment(file_name);
  }
  head.header("content-type", std::move(type));
  if (!disposition.empty()) head.header("content-disposition", std::move(disposition));
  head.header("x-content-type-options", "nosniff");
}

}  // namespace portico::uploads
