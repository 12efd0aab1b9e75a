#include <windows.h>

#include <algorithm>

#include "plugins/job_store_sqlite/host_file.hpp"

namespace job_store {
namespace {

std::wstring wide(const std::string& utf8) {
  const int n = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), static_cast<int>(utf8.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(n), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), static_cast<int>(utf8.size()), out.data(), n);
  return out;
}

std::string narrow(const std::wstring& text) {
  const int n =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(n), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), n, nullptr, nullptr);
  return out;
}

// Empty: it cannot be told.
std::string place_of(HANDLE file) {
  std::wstring name(32768, L'\0');
  const DWORD size =
      GetFinalPathNameByHandleW(file, name.data(), static_cast<DWORD>(name.size()), FILE_NAME_NORMALIZED);
  if (size == 0 || size >= name.size()) return {};
  name.resize(size);
  if (name.starts_with(L"\\\\?\\") && !name.starts_with(L"\\\\?\\UNC\\")) name.erase(0, 4);
  std::string out = narrow(name);
  std::replace(out.begin(), out.end(), '\\', '/');
  return out;
}

}  // namespace

std::optional<host_file> look_at(const std::string& path) {
  const HANDLE file = CreateFileW(wide(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return std::nullopt;
  BY_HANDLE_FILE_INFORMATION info{};
  const bool regular = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) &&
                       !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY);
  const std::string real = regular ? place_of(file) : std::string();
  CloseHandle(file);
  if (real.empty()) return std::nullopt;
  const auto ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(info.ftLastWriteTime.dwHighDateTime) << 32 |
                                               info.ftLastWriteTime.dwLowDateTime);
  return host_file{real, static_cast<std::uint64_t>(info.nFileSizeHigh) << 32 | info.nFileSizeLow,
                   ticks / 10 - 11'644'473'600'000'000};  // from units of 100 ns since 1601
}

}  // namespace job_store
