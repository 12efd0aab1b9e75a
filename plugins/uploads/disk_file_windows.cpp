#include <windows.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "plugins/uploads/disk_file.hpp"

namespace portico::uploads {
namespace {

HANDLE os(std::intptr_t handle) noexcept { return reinterpret_cast<HANDLE>(handle); }

std::wstring wide(std::string_view path) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, path.data(), static_cast<int>(path.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, path.data(), static_cast<int>(path.size()), out.data(), size);
  return out;
}

std::string narrow(std::wstring_view text) {
  const int size =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), size, nullptr, nullptr);
  return out;
}

HANDLE open_shared(const std::wstring& path, DWORD access) {
  return CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                     OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

// Where an open file really is, with '/' between the names; empty: it cannot be told.
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

std::string real_path(std::string_view path) {
  const HANDLE file = open_shared(wide(path), 0);
  if (file == INVALID_HANDLE_VALUE) return {};
  std::string out = place_of(file);
  CloseHandle(file);
  return out;
}

bool same_text(std::string_view a, std::string_view b) {
  const std::wstring x = wide(a), y = wide(b);
  return CompareStringOrdinal(x.data(), static_cast<int>(x.size()), y.data(), static_cast<int>(y.size()), TRUE) ==
         CSTR_EQUAL;
}

std::optional<std::string_view> below(std::string_view folder, std::string_view path) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (path.size() <= folder.size() || path[folder.size()] != '/' || !same_text(folder, path.substr(0, folder.size())))
    return std::nullopt;
  path.remove_prefix(folder.size());
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

bool leads_upwards(std::string_view path) {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

bool is_regular(HANDLE file, BY_HANDLE_FILE_INFORMATION& info) {
  return GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) &&
         !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY);
}

}  // namespace

// Opened first, and only then asked where it is: a link that has come into the path since leads to another place.
std::optional<disk_file> disk_file::open(const std::string& path) {
  const HANDLE handle = open_shared(wide(path), GENERIC_READ);
  if (handle == INVALID_HANDLE_VALUE) return std::nullopt;
  disk_file file;
  file.handle_ = reinterpret_cast<std::intptr_t>(handle);
  BY_HANDLE_FILE_INFORMATION info{};
  if (!is_regular(handle, info) || !same_text(place_of(handle), path)) return std::nullopt;
  file.size_ = static_cast<std::uint64_t>(info.nFileSizeHigh) << 32 | info.nFileSizeLow;
  const auto ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(info.ftLastWriteTime.dwHighDateTime) << 32 |
                                               info.ftLastWriteTime.dwLowDateTime);
  file.changed_ = ticks / 10 - 11'644'473'600 * second;  // from units of 100 ns since 1601
  return file;
}

disk_file::disk_file(disk_file&& o) noexcept
    : handle_(std::exchange(o.handle_, -1)), size_(o.size_), changed_(o.changed_) {}

disk_file::~disk_file() {
  if (handle_ != -1) CloseHandle(os(handle_));
}

void disk_file::fetch(std::uint64_t offset, std::uint64_t size) const {
  char piece[64 * 1024];
  while (size > 0) {
    const std::size_t n = read(offset, piece, static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof piece)));
    if (n == 0) return;
    offset += n;
    size -= n;
  }
}

std::size_t disk_file::read(std::uint64_t offset, char* out, std::size_t size) const {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD n = 0;
  const auto wanted = static_cast<DWORD>(std::min<std::size_t>(size, 1u << 30));
  if (!ReadFile(os(handle_), out, wanted, &n, &place) && GetLastError() != ERROR_HANDLE_EOF)
    throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), "a file cannot be read");
  return n;
}

location locate(const std::string& folder, std::string_view path) {
  std::string written(path), base(folder);
  std::replace(written.begin(), written.end(), '\\', '/');
  std::replace(base.begin(), base.end(), '\\', '/');
  const std::string real_folder = real_path(base);
  const bool written_below = below(base, written) || (!real_folder.empty() && below(real_folder, written));
  if (!written_below || leads_upwards(written) || written.find('\0') != std::string::npos)
    return {location::outcome::outside, {}, {}};
  const std::string real = real_path(written);
  if (real.empty()) return {location::outcome::missing, {}, {}};
  const std::optional<std::string_view> relative = below(real_folder, real);
  if (!relative) return {location::outcome::outside, {}, {}};
  const std::optional<disk_file> file = disk_file::open(real);
  if (!file) return {location::outcome::missing, {}, {}};
  return {location::outcome::found, real, std::string(*relative)};
}

}  // namespace portico::uploads
