#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "plugins/uploads/disk_file.hpp"

namespace portico::uploads {
namespace {

// Empty: there is no such thing.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : std::string();
}

// What of the path lies below the folder, without a slash at either end; nothing: it does not.
std::optional<std::string_view> below(std::string_view folder, std::string_view path) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (folder != "/") {
    if (!path.starts_with(folder)) return std::nullopt;
    path.remove_prefix(folder.size());
  }
  if (!path.starts_with('/')) return std::nullopt;
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

}  // namespace

// Folder by folder, none of which may have become a link.
std::optional<disk_file> disk_file::open(const std::string& path) {
  int fd = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  std::string_view rest = path;
  while (fd >= 0) {
    while (rest.starts_with('/')) rest.remove_prefix(1);
    const std::size_t slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    const bool last = slash == std::string_view::npos;
    const int flags = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    const int next = ::openat(fd, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    ::close(fd);
    fd = next;
    if (last) break;
    rest.remove_prefix(slash);
  }
  if (fd < 0) return std::nullopt;
  disk_file file;
  file.handle_ = fd;
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  file.size_ = static_cast<std::uint64_t>(info.st_size);
  file.changed_ = info.st_mtim.tv_sec * second + info.st_mtim.tv_nsec / 1000;
  return file;
}

disk_file::disk_file(disk_file&& o) noexcept
    : handle_(std::exchange(o.handle_, -1)), size_(o.size_), changed_(o.changed_) {}

disk_file::~disk_file() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

void disk_file::fetch(std::uint64_t offset, std::uint64_t size) const {
  if (size == 0) return;
  // The advice starts the reading; its last byte is there when all of it is, as the system reads in order.
  ::posix_fadvise(static_cast<int>(handle_), static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
  char last;
  read(offset + size - 1, &last, 1);
}

std::size_t disk_file::read(std::uint64_t offset, char* out, std::size_t size) const {
  for (;;) {
    const ssize_t n = ::pread(static_cast<int>(handle_), out, size, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "a file cannot be read");
  }
}

location locate(const std::string& folder, std::string_view path) {
  const std::string real_folder = real_path(folder);
  const bool written_below = below(folder, path) || (!real_folder.empty() && below(real_folder, path));
  if (!written_below || leads_upwards(path) || path.find('\0') != std::string_view::npos)
    return {location::outcome::outside, {}, {}};
  const std::string real = real_path(std::string(path));
  if (real.empty()) return {location::outcome::missing, {}, {}};
  const std::optional<std::string_view> relative = below(real_folder, real);
  if (!relative) return {location::outcome::outside, {}, {}};
  struct stat info {};
  if (::stat(real.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {location::outcome::missing, {}, {}};
  return {location::outcome::found, real, std::string(*relative)};
}

}  // namespace portico::uploads
