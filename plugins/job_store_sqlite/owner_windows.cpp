#include <windows.h>

#include <stdexcept>

#include "plugins/job_store_sqlite/owner.hpp"

namespace job_store {
namespace {

std::wstring wide(const std::string& utf8) {
  const int n = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), static_cast<int>(utf8.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(n), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), static_cast<int>(utf8.size()), out.data(), n);
  return out;
}

}  // namespace

// The folder's rights are those of its parent.
owner::owner(const std::string& folder) : file_(-1) {
  if (!CreateDirectoryW(wide(folder).c_str(), nullptr) && GetLastError() != ERROR_ALREADY_EXISTS)
    throw std::runtime_error("directory " + folder + ": cannot be made: error " + std::to_string(GetLastError()));
  const HANDLE file = CreateFileW(wide(folder + "/owner").c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                  OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_SHARING_VIOLATION)
    throw std::runtime_error("directory " + folder +
                             ": is in use by another portico; give each one a directory of its own");
  if (file == INVALID_HANDLE_VALUE)
    throw std::runtime_error("directory " + folder + ": cannot be written: error " + std::to_string(GetLastError()));
  file_ = reinterpret_cast<std::intptr_t>(file);
}

owner::~owner() { CloseHandle(reinterpret_cast<HANDLE>(file_)); }

}  // namespace job_store
