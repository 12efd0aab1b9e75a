#include <windows.h>

#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/spool.hpp"

namespace portico::uploads {
namespace {

constexpr const char* prefix = "portico-spool-";

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), what);
}

std::wstring wide(const std::string& path) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, path.data(), static_cast<int>(path.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, path.data(), static_cast<int>(path.size()), out.data(), size);
  return out;
}

// A spool of a living process is open there without the right to delete it for others.
void sweep(const std::string& folder) {
  WIN32_FIND_DATAW entry;
  const std::wstring place = wide(folder);
  const HANDLE search = FindFirstFileW((place + L"\\portico-spool-*").c_str(), &entry);
  if (search == INVALID_HANDLE_VALUE) return;
  do DeleteFileW((place + L"\\" + entry.cFileName).c_str());
  while (FindNextFileW(search, &entry));
  FindClose(search);
}

HANDLE os(std::intptr_t handle) noexcept { return reinterpret_cast<HANDLE>(handle); }

}  // namespace

spool_folder::spool_folder(std::string path) : path_(std::move(path)) {
  if (!CreateDirectoryW(wide(path_).c_str(), nullptr) && GetLastError() != ERROR_ALREADY_EXISTS)
    fail("spool folder " + path_ + " cannot be made");
  const DWORD attributes = GetFileAttributesW(wide(path_).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_DIRECTORY))
    fail("spool folder " + path_ + " is not a folder");
  sweep(path_);
}

std::uint64_t spool_folder::free_bytes() const {
  ULARGE_INTEGER free{};
  if (!GetDiskFreeSpaceExW(wide(path_).c_str(), &free, nullptr, nullptr)) fail("spool folder " + path_);
  return free.QuadPart;
}

spool::spool(const spool_folder& folder) : handle_(0) {
  name_ = folder.path() + "\\" + prefix + random_uuid();
  const HANDLE file = CreateFileW(wide(name_).c_str(), GENERIC_READ | GENERIC_WRITE | DELETE, 0, nullptr, CREATE_NEW,
                                  FILE_ATTRIBUTE_TEMPORARY, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail("a temporary file for an upload cannot be made");
  handle_ = reinterpret_cast<std::intptr_t>(file);
}

spool::~spool() {
  CloseHandle(os(handle_));
  if (!name_.empty()) DeleteFileW(wide(name_).c_str());
}

void spool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(size_);
    place.OffsetHigh = static_cast<DWORD>(size_ >> 32);
    DWORD n = 0;
    const auto wanted = static_cast<DWORD>(bytes.size() < (1u << 30) ? bytes.size() : 1u << 30);
    if (!WriteFile(os(handle_), bytes.data(), wanted, &n, &place))
      fail("an upload cannot be written to its temporary file");
    bytes.remove_prefix(n);
    size_ += n;
  }
}

std::size_t spool::read(std::uint64_t offset, char* out, std::size_t size) const {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD n = 0;
  const auto wanted = static_cast<DWORD>(size < (1u << 30) ? size : 1u << 30);
  if (!ReadFile(os(handle_), out, wanted, &n, &place) && GetLastError() != ERROR_HANDLE_EOF)
    fail("an upload cannot be read from its temporary file");
  return n;
}

bool is_full(const std::system_error& e) noexcept {
  return e.code().value() == ERROR_DISK_FULL || e.code().value() == ERROR_HANDLE_DISK_FULL;
}

}  // namespace portico::uploads
