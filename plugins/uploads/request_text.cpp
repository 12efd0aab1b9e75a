#include "plugins/uploads/request_text.hpp"

#include <charconv>
#include <portico/response.hpp>

#include "plugins/comfy/errors.hpp"

namespace portico::uploads {
namespace {

constexpr std::int64_t shortest_life = 60, longest_life = 604'800;  // seconds

instant checked_lifetime(std::optional<std::int64_t> seconds) {
  if (!seconds || *seconds < shortest_life || *seconds > longest_life)
    refuse("expires_in must be a whole number of seconds from 60 to 604800");
  return *seconds * second;
}

}  // namespace

void refuse(const std::string& why) { throw http_error(422, comfy::code::invalid_request, why); }

instant read_lifetime(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = problem == std::errc() && stop == text.data() + text.size();
  return checked_lifetime(whole ? std::optional(seconds) : std::nullopt);
}

json_body::json_body(std::string_view text) : document_(text) {
  if (!document_.ok())
    throw http_error(400, comfy::code::invalid_request,
                     "the body is not JSON: " + std::string(document_.error()) + " at byte " +
                         std::to_string(document_.error_offset()));
  if (!document_.root().is_object())
    throw http_error(400, comfy::code::invalid_request, "the body must be a JSON object");
}

std::string json_body::required_text(std::string_view name) const {
  if (!document_.root()[name].is_string()) refuse(std::string(name) + " must be a string");
  return document_.root()[name].text();
}

std::optional<std::string> json_body::text(std::string_view name) const {
  if (document_.root()[name].is_absent_or_null()) return std::nullopt;
  return required_text(name);
}

instant json_body::lifetime() const {
  const comfy::json::value given = document_.root()["expires_in"];
  return given.is_absent_or_null() ? 0 : checked_lifetime(given.integer());
}

}  // namespace portico::uploads
