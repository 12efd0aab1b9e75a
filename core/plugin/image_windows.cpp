#include "core/plugin/image.hpp"

namespace portico::plugin {

// The Windows loader checks section sizes itself and refuses a truncated image.
std::string image_fault(const std::string&) { return {}; }

unsigned loader_flags() noexcept {
  constexpr unsigned search_dll_load_dir = 0x100, search_default_dirs = 0x1000;
  return search_dll_load_dir | search_default_dirs;
}

}  // namespace portico::plugin
