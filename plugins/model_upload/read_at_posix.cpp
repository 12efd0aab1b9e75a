#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "plugins/model_upload/read_at.hpp"

namespace portico::model_upload {

std::size_t read_at(std::intptr_t file, std::uint64_t offset, char* out, std::size_t size) {
  for (;;) {
    const ssize_t n = ::pread(static_cast<int>(file), out, size, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "a model cannot be read");
  }
}

}  // namespace portico::model_upload
