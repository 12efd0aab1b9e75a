// plugins/comfy/json_text.hpp - characters of JSON text: UTF-8 and escapes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace comfy::json {

// The length in bytes of the well-formed UTF-8 sequence that s begins with, 0 when it begins with none (Unicode 15,
// table 3-7).
std::size_t utf8_sequence(std::string_view s) noexcept;

// The value of four hexadecimal digits, or -1 when there are not four.
int hex4(const char* p, const char* end) noexcept;

// The characters of a string that was found to be one, given without its quotes.  What is no Unicode becomes U+FFFD.
std::string unescape(std::string_view s);

}  // namespace comfy::json
