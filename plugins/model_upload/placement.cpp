#include "plugins/model_upload/placement.hpp"

#include <algorithm>
#include <string_view>

namespace portico::model_upload {

outcome refused(int status, const char* code, std::string message) {
  outcome o;
  o.status = status;
  o.code = code;
  o.message = std::move(message);
  return o;
}

bool has_model_name(const std::string& path) {
  constexpr std::string_view ending = ".safetensors";
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (name.size() <= ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), name.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b); });
}

}  // namespace portico::model_upload
