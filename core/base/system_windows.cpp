#include <algorithm>
#include <system_error>

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <bcrypt.h>

#include "core/base/system.hpp"

namespace portico::base {

void random_bytes(std::span<unsigned char> out) {
  const NTSTATUS result =
      ::BCryptGenRandom(nullptr, out.data(), static_cast<ULONG>(out.size()), BCRYPT_USE_SYSTEM_PREFERRED_RNG);
  if (result < 0) throw std::system_error(result, std::system_category(), "no random bytes from the system");
}

void write_stderr(std::string_view text) noexcept {
  const HANDLE out = ::GetStdHandle(STD_ERROR_HANDLE);
  while (!text.empty()) {
    DWORD wrote = 0;
    if (!::WriteFile(out, text.data(), static_cast<DWORD>(text.size()), &wrote, nullptr) || wrote == 0) return;
    text.remove_prefix(wrote);
  }
}

std::uint64_t raise_descriptor_limit() noexcept { return 0; }

void name_this_thread(std::string_view name) noexcept {
  wchar_t text[16] = {};
  const std::size_t size = std::min(name.size(), std::size(text) - 1);
  std::copy_n(name.begin(), size, text);
  // Looked up, because Windows before 10 (1607) lacks it.
  using set_description = HRESULT(WINAPI*)(HANDLE, PCWSTR);
  const FARPROC found = ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription");
  if (found) reinterpret_cast<set_description>(reinterpret_cast<void*>(found))(::GetCurrentThread(), text);
}

}  // namespace portico::base
