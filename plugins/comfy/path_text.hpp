// plugins/comfy/path_text.hpp - paths as ComfyUI writes them, of its own system.
#pragma once
#include <cstddef>
#include <string_view>

namespace comfy {

// What stands behind the last '/' or '\'.
inline std::string_view base_name(std::string_view path) noexcept {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Whether one of its names is "..".
inline bool leads_upwards(std::string_view path) noexcept {
  for (;;) {
    const std::size_t end = path.find_first_of("/\\");
    if (path.substr(0, end) == "..") return true;
    if (end == std::string_view::npos) return false;
    path.remove_prefix(end + 1);
  }
}

}  // namespace comfy
