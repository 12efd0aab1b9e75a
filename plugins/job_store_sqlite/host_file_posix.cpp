#include <sys/stat.h>

#include <cstdlib>
#include <memory>

#include "plugins/job_store_sqlite/host_file.hpp"

namespace job_store {

std::optional<host_file> look_at(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  struct stat info {};
  if (!real || ::stat(real.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return host_file{real.get(), static_cast<std::uint64_t>(info.st_size),
                   std::int64_t{info.st_mtim.tv_sec} * 1'000'000 + info.st_mtim.tv_nsec / 1000};
}

}  // namespace job_store
