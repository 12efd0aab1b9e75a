// plugins/uploads/request_text.hpp - what clients write into JSON bodies and fields, checked.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "plugins/comfy/json.hpp"
#include "plugins/uploads/clock.hpp"

namespace portico::uploads {

constexpr std::size_t max_json = 1024 * 1024;  // bytes of a JSON body

[[noreturn]] void refuse(const std::string& why);  // http_error 422 invalid_request

// expires_in: a whole number of seconds from 60 to 604,800, in microseconds.  http_error 422.
instant read_lifetime(std::string_view);

// The JSON object a body holds.  The text outlives it.
class json_body {
 public:
  // http_error 400: it is not JSON, or no object.
  explicit json_body(std::string_view text);
  // http_error 422: absent, or not a string.
  std::string required_text(std::string_view name) const;
  // Nothing: absent or null.  http_error 422: not a string.
  std::optional<std::string> text(std::string_view name) const;
  // expires_in; 0: absent or null.  http_error 422.
  instant lifetime() const;

 private:
  comfy::json::document document_;
};

}  // namespace portico::uploads
