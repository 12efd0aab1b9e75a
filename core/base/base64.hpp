// core/base/base64.hpp - RFC 4648 base64 with padding.  Any thread.
#pragma once
#include <string>
#include <string_view>

namespace portico::base {

std::string base64(std::string_view bytes);

}  // namespace portico::base
