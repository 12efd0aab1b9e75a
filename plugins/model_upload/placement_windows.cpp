#include <windows.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/comfy/errors.hpp"
#include "plugins/model_upload/placement.hpp"

namespace portico::model_upload {
namespace {

class refusal {
 public:
  explicit refusal(outcome o) : outcome_(std::move(o)) {}
  const outcome& what() const noexcept { return outcome_; }

 private:
  outcome outcome_;
};

[[noreturn]] void refuse(std::string why) { throw refusal(refused(422, comfy::code::invalid_request, std::move(why))); }

[[noreturn]] void fail(const std::string& what) {
  const DWORD why = GetLastError();
  if (why == ERROR_DISK_FULL || why == ERROR_HANDLE_DISK_FULL)
    throw refusal(refused(507, "insufficient_storage", "there is not enough space left on the disk for this model"));
  throw refusal(refused(500, "internal", "the model could not be placed: " + what + ", error " + std::to_string(why)));
}

std::wstring wide(std::string_view text) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), size);
  return out;
}

std::string narrow(std::wstring_view text) {
  const int size =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), size, nullptr, nullptr);
  return out;
}

class handle {
 public:
  handle() = default;
  explicit handle(HANDLE h) noexcept : handle_(h) {}
  handle(handle&& o) noexcept : handle_(std::exchange(o.handle_, INVALID_HANDLE_VALUE)) {}
  handle& operator=(handle&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~handle() {
    if (handle_ != INVALID_HANDLE_VALUE) CloseHandle(handle_);
  }
  HANDLE get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE; }

 private:
  HANDLE handle_ = INVALID_HANDLE_VALUE;
};

HANDLE os(std::intptr_t file) noexcept { return reinterpret_cast<HANDLE>(file); }

// Where an open file or folder really is, beginning with "\\?\".
std::wstring place_of(HANDLE file) {
  std::wstring name(32768, L'\0');
  const DWORD size =
      GetFinalPathNameByHandleW(file, name.data(), static_cast<DWORD>(name.size()), FILE_NAME_NORMALIZED);
  name.resize(size < name.size() ? size : 0);
  return name;
}

// In the form in which the rest of the world writes paths.
std::string plain(std::wstring_view place) {
  if (place.starts_with(L"\\\\?\\") && !place.starts_with(L"\\\\?\\UNC\\")) place.remove_prefix(4);
  std::string out = narrow(place);
  std::replace(out.begin(), out.end(), '\\', '/');
  return out;
}

// Without the right for others to delete or rename it: while it is open, its name stays what it is.
handle open_folder(const std::wstring& path, DWORD more) {
  handle folder(CreateFileW(path.c_str(), FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | more, nullptr));
  return folder;
}

bool is_link(HANDLE folder) {
  FILE_ATTRIBUTE_TAG_INFO info{};
  return GetFileInformationByHandleEx(folder, FileAttributeTagInfo, &info, sizeof info) &&
         (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT);
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == ".." || name.find_first_of("\\:") != std::string_view::npos)
      refuse("the model's path holds an empty name or one that leads elsewhere");
    names.emplace_back(name);
    if (slash == std::string_view::npos) return names;
    path.remove_prefix(slash + 1);
  }
}

// All folders on the way, held open until the model is at its place.
std::vector<handle> open_way(const std::string& base_dir, const std::string& root,
                             const std::vector<std::string>& names, bool follow_category_links) {
  std::vector<handle> way;
  way.push_back(open_folder(wide(base_dir) + L"\\models", 0));
  if (!way.back()) refuse("base_dir holds no folder named models; set it to ComfyUI's own folder");
  std::vector<std::string> steps = {root};
  steps.insert(steps.end(), names.begin(), names.end() - 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::wstring path = place_of(way.back().get()) + L"\\" + wide(steps[i]);
    if (!CreateDirectoryW(path.c_str(), nullptr) && GetLastError() != ERROR_ALREADY_EXISTS)
      fail("a folder in its path cannot be made");
    handle next = open_folder(path, FILE_FLAG_OPEN_REPARSE_POINT);
    if (!next) fail("a folder in its path cannot be opened");
    if (is_link(next.get())) {
      if (i > 0) refuse("\"" + steps[i] + "\" in the model's path is a link");
      if (!follow_category_links)
        refuse("models/" + root + " is a link; set follow_category_links = yes to place models behind it");
      next = open_folder(path, 0);
      if (!next) fail("models/" + root + " cannot be opened");
    }
    way.push_back(std::move(next));
  }
  return way;
}

bool same_bytes(HANDLE a, HANDLE b, std::uint64_t size) {
  constexpr DWORD piece = 256 * 1024;
  std::vector<char> x(piece), y(piece);
  for (std::uint64_t at = 0; at < size;) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(at);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    OVERLAPPED again = place;
    DWORD n = 0, m = 0;
    if (!ReadFile(a, x.data(), piece, &n, &place) || n == 0 || !ReadFile(b, y.data(), n, &m, &again) || m != n)
      return false;
    if (!std::equal(x.begin(), x.begin() + n, y.begin())) return false;
    at += n;
  }
  return true;
}

outcome placed(HANDLE file) {
  BY_HANDLE_FILE_INFORMATION info{};
  if (!GetFileInformationByHandle(file, &info)) fail("it cannot be looked at");
  const auto ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(info.ftLastWriteTime.dwHighDateTime) << 32 |
                                               info.ftLastWriteTime.dwLowDateTime);
  outcome o;
  o.disk_path = plain(place_of(file));
  o.changed = ticks / 10 - 11'644'473'600'000'000;  // from units of 100 ns since 1601
  return o;
}

// What stands at the target already; nothing: the name is free.
std::optional<outcome> present(const std::wstring& target, const candidate& c) {
  const handle there(CreateFileW(target.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                 nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
                                 nullptr));
  if (!there && (GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND)) return std::nullopt;
  LARGE_INTEGER size{};
  if (there && !is_link(there.get()) && GetFileSizeEx(there.get(), &size) &&
      static_cast<std::uint64_t>(size.QuadPart) == c.size && same_bytes(there.get(), os(c.file), c.size))
    return placed(there.get());
  refuse("another file exists at " + c.root + "/" + c.path + "; choose another name, or remove that file first");
}

// False: the target is on another disk.
bool rename_to(HANDLE file, const std::wstring& target, const candidate& c) {
  std::vector<char> memory(sizeof(FILE_RENAME_INFO) + (target.size() + 1) * sizeof(wchar_t));
  auto* info = reinterpret_cast<FILE_RENAME_INFO*>(memory.data());
  info->ReplaceIfExists = FALSE;
  info->RootDirectory = nullptr;
  info->FileNameLength = static_cast<DWORD>(target.size() * sizeof(wchar_t));
  std::copy(target.begin(), target.end(), info->FileName);
  if (SetFileInformationByHandle(file, FileRenameInfo, info, static_cast<DWORD>(memory.size()))) return true;
  if (GetLastError() == ERROR_NOT_SAME_DEVICE) return false;
  if (GetLastError() == ERROR_ALREADY_EXISTS || GetLastError() == ERROR_FILE_EXISTS)
    throw refusal(refused(409, comfy::code::hash_mismatch,
                          "another file was placed at " + c.root + "/" + c.path + " at the same time"));
  fail("it cannot be given its name");
}

// A file that goes with its handle, until it has been given its name.
handle copy_beside(const std::wstring& folder, const candidate& c) {
  handle copy;
  for (int i = 0; !copy && i < 100; ++i) {
    const std::wstring name =
        folder + L"\\.portico-" + std::to_wstring(GetCurrentProcessId()) + L"-" + std::to_wstring(i);
    copy = handle(CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE | DELETE, 0, nullptr, CREATE_NEW,
                              FILE_ATTRIBUTE_NORMAL, nullptr));
  }
  if (!copy) fail("a temporary file beside its place cannot be made");
  FILE_DISPOSITION_INFO goes{TRUE};
  SetFileInformationByHandle(copy.get(), FileDispositionInfo, &goes, sizeof goes);
  std::vector<char> buffer(1024 * 1024);
  for (std::uint64_t at = 0; at < c.size;) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(at);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD n = 0, m = 0;
    if (!ReadFile(os(c.file), buffer.data(), static_cast<DWORD>(buffer.size()), &n, &place) || n == 0)
      fail("its temporary file cannot be read");
    if (!WriteFile(copy.get(), buffer.data(), n, &m, nullptr) || m != n) fail("it cannot be copied to its place");
    at += n;
  }
  return copy;
}

outcome put(const std::wstring& folder, const std::string& name, const candidate& c) {
  const std::wstring target = folder + L"\\" + wide(name);
  if (std::optional<outcome> there = present(target, c)) return *there;
  if (!FlushFileBuffers(os(c.file))) fail("it cannot be written to the disk");
  if (rename_to(os(c.file), target, c)) {
    outcome o = placed(os(c.file));
    o.moved = true;
    return o;
  }
  const handle copy = copy_beside(folder, c);
  if (!FlushFileBuffers(copy.get())) fail("it cannot be written to the disk");
  FILE_DISPOSITION_INFO stays{FALSE};
  SetFileInformationByHandle(copy.get(), FileDispositionInfo, &stays, sizeof stays);
  try {
    if (!rename_to(copy.get(), target, c)) fail("it cannot be given its name");
  } catch (...) {
    FILE_DISPOSITION_INFO goes{TRUE};
    SetFileInformationByHandle(copy.get(), FileDispositionInfo, &goes, sizeof goes);
    throw;
  }
  return placed(copy.get());
}

}  // namespace

model_folder::model_folder(std::string base_dir, bool follow_category_links)
    : base_dir_(std::move(base_dir)), follow_category_links_(follow_category_links) {}

// Each folder on the way is held open, so that none can be exchanged for a link before the file has its name.
outcome model_folder::place(const candidate& c) const {
  try {
    const std::vector<std::string> names = split(c.path);
    if (split(c.root).size() != 1) refuse("the model's path does not begin with the name of one folder");
    if (!has_model_name(c.path)) refuse("a model's name must end in .safetensors");
    const std::vector<handle> way = open_way(base_dir_, c.root, names, follow_category_links_);
    return put(place_of(way.back().get()), names.back(), c);
  } catch (const refusal& r) {
    return r.what();
  }
}

}  // namespace portico::model_upload
