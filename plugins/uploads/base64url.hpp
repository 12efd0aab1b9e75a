// plugins/uploads/base64url.hpp - RFC 4648 section 5 without padding, in the one text form that each byte string has.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace portico::uploads {

std::string base64url(std::string_view bytes);

// Nothing when the text is not exactly what base64url() gives for some bytes: padding, another alphabet, white space,
// an impossible length, and unused bits that are set are all refused.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace portico::uploads
