// plugins/uploads/served_as.hpp - how stored bytes are labelled, so that a browser never runs them as part of this
// site.
#pragma once
#include <string>
#include <string_view>

namespace portico::uploads {

// True for types whose content a browser may run as script in the origin it came from: HTML, SVG and other XML,
// JavaScript, CSS, and containers of several parts.  Parameters and case do not matter.
bool is_script_capable(std::string_view content_type) noexcept;

// True when the text can be the value of a content type: "type/subtype" of token characters, then perhaps parameters,
// with no control character and at most 255 bytes.
bool is_content_type(std::string_view) noexcept;

// "attachment; filename=...": the name in ASCII with odd characters replaced, and in full as RFC 5987 says where the
// two differ.
std::string attachment(std::string_view file_name);

}  // namespace portico::uploads
