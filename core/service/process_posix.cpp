#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/service/process.hpp"

extern "C" char** environ;

namespace portico::service {

std::string program_folder() {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : file.parent_path().string();
}

std::vector<std::pair<std::string, std::string>> portico_environment() {
  std::vector<std::pair<std::string, std::string>> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with("PORTICO_") && equals != std::string_view::npos)
      out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

std::string default_ini_path() { return "/etc/portico/portico.ini"; }

}  // namespace portico::service
