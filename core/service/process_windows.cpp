#include <windows.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "core/service/process.hpp"

namespace portico::service {

std::string program_folder() {
  std::array<wchar_t, 32768> file{};
  const DWORD length = GetModuleFileNameW(nullptr, file.data(), static_cast<DWORD>(file.size()));
  if (length == 0 || length == file.size()) return {};
  return std::filesystem::path(std::wstring_view(file.data(), length)).parent_path().string();
}

std::vector<std::pair<std::string, std::string>> portico_environment() {
  std::vector<std::pair<std::string, std::string>> out;
  char* const block = GetEnvironmentStringsA();
  for (const char* entry = block; entry != nullptr && *entry != '\0'; entry += std::string_view(entry).size() + 1) {
    const std::string_view text = entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with("PORTICO_") && equals != std::string_view::npos)
      out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (block != nullptr) FreeEnvironmentStringsA(block);
  return out;
}

// Beside the data of other services, where an administrator may write and others may not.
std::string default_ini_path() {
  std::array<char, 4096> data{};
  const DWORD length = GetEnvironmentVariableA("ProgramData", data.data(), static_cast<DWORD>(data.size()));
  if (length == 0 || length >= data.size()) return {};
  return std::string(data.data(), length) + "\\portico\\portico.ini";
}

}  // namespace portico::service
