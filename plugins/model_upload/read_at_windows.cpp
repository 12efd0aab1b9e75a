#include <windows.h>

#include <algorithm>
#include <system_error>

#include "plugins/model_upload/read_at.hpp"

namespace portico::model_upload {

std::size_t read_at(std::intptr_t file, std::uint64_t offset, char* out, std::size_t size) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD n = 0;
  const auto wanted = static_cast<DWORD>(std::min<std::size_t>(size, 1u << 30));
  if (!ReadFile(reinterpret_cast<HANDLE>(file), out, wanted, &n, &place) && GetLastError() != ERROR_HANDLE_EOF)
    throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), "a model cannot be read");
  return n;
}

}  // namespace portico::model_upload
