#include <cerrno>
#include <cstring>
#include <system_error>

#include <pthread.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/system.hpp"

namespace portico::base {

void random_bytes(std::span<unsigned char> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::system_error(errno, std::generic_category(), "no random bytes from the system");
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

void write_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDERR_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  return limit.rlim_cur == RLIM_INFINITY ? 0 : static_cast<std::uint64_t>(limit.rlim_cur);
}

void name_this_thread(std::string_view name) noexcept {
  char text[16] = {};
  name = name.substr(0, sizeof text - 1);
  std::memcpy(text, name.data(), name.size());
  ::pthread_setname_np(::pthread_self(), text);
}

}  // namespace portico::base
