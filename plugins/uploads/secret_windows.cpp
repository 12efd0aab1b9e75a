#include <windows.h>

#include <stdexcept>

#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/secret.hpp"

namespace portico::uploads {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error("secret_file " + path + ": " + what);
}

std::wstring wide(const std::string& path) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, path.data(), static_cast<int>(path.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, path.data(), static_cast<int>(path.size()), out.data(), size);
  return out;
}

class handle {
 public:
  explicit handle(HANDLE h) noexcept : handle_(h) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() {
    if (handle_ != INVALID_HANDLE_VALUE) CloseHandle(handle_);
  }
  HANDLE get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE; }

 private:
  HANDLE handle_;
};

}  // namespace

// Who may read the file follows from the folder it is in, as is usual on this system.
std::string secret_in(const std::string& path) {
  const std::wstring name = wide(path);
  for (int attempt = 0; attempt < 2; ++attempt) {
    {
      const handle made(
          CreateFileW(name.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
      if (made) {
        const std::string secret = random_bytes(secret_size);
        DWORD written = 0;
        if (!WriteFile(made.get(), secret.data(), static_cast<DWORD>(secret.size()), &written, nullptr) ||
            written != secret.size())
          fail(path, "cannot be written, error " + std::to_string(GetLastError()));
        FlushFileBuffers(made.get());
        return secret;
      }
    }
    if (GetLastError() != ERROR_FILE_EXISTS) fail(path, "cannot be made, error " + std::to_string(GetLastError()));
    const handle file(CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                                  FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file && GetLastError() == ERROR_FILE_NOT_FOUND) continue;
    if (!file) fail(path, "cannot be read, error " + std::to_string(GetLastError()));
    char bytes[secret_size + 1];
    DWORD count = 0;
    if (!ReadFile(file.get(), bytes, sizeof bytes, &count, nullptr))
      fail(path, "cannot be read, error " + std::to_string(GetLastError()));
    if (count != secret_size) fail(path, "must hold exactly 32 bytes; remove it to have a new one made");
    return std::string(bytes, secret_size);
  }
  fail(path, "disappears as soon as it is made");
}

}  // namespace portico::uploads
