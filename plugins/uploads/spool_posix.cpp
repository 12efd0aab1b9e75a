#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/spool.hpp"

namespace portico::uploads {
namespace {

constexpr std::string_view prefix = "portico-spool-";

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

// A spool of a living process is locked by it.
void sweep(const std::string& folder) {
  DIR* entries = ::opendir(folder.c_str());
  if (!entries) fail("spool folder " + folder);
  while (const dirent* entry = ::readdir(entries)) {
    if (!std::string_view(entry->d_name).starts_with(prefix)) continue;
    const int fd = ::openat(::dirfd(entries), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlinkat(::dirfd(entries), entry->d_name, 0);
    ::close(fd);
  }
  ::closedir(entries);
}

// A sweep of another process may take the file for a dead one's until it is locked; then another is made.
int make_named(const std::string& folder, std::string& name) {
  for (;;) {
    name = folder + "/" + std::string(prefix) + random_uuid();
    const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return fd;
    struct stat info {};
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &info) == 0 && info.st_nlink > 0) return fd;
    ::unlink(name.c_str());
    ::close(fd);
  }
}

}  // namespace

spool_folder::spool_folder(std::string path) : path_(std::move(path)) {
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) fail("spool folder " + path_ + " cannot be made");
  if (::access(path_.c_str(), R_OK | W_OK | X_OK) != 0) fail("spool folder " + path_ + " cannot be written to");
  sweep(path_);
}

std::uint64_t spool_folder::free_bytes() const {
  struct statvfs info {};
  if (::statvfs(path_.c_str(), &info) != 0) fail("spool folder " + path_);
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

spool::spool(const spool_folder& folder) : handle_(-1) {
  int fd = -1;
#ifdef O_TMPFILE
  fd = ::open(folder.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
  if (fd < 0) fd = make_named(folder.path(), name_);  // the file system does not know unnamed files
  if (fd < 0) fail("a temporary file for an upload cannot be made");
  handle_ = fd;
}

spool::~spool() {
  if (!name_.empty()) ::unlink(name_.c_str());
  ::close(static_cast<int>(handle_));
}

void spool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(static_cast<int>(handle_), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("an upload cannot be written to its temporary file");
    bytes.remove_prefix(static_cast<std::size_t>(n));
    size_ += static_cast<std::uint64_t>(n);
  }
}

std::size_t spool::read(std::uint64_t offset, char* out, std::size_t size) const {
  for (;;) {
    const ssize_t n = ::pread(static_cast<int>(handle_), out, size, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) fail("an upload cannot be read from its temporary file");
  }
}

bool is_full(const std::system_error& e) noexcept {
  return e.code() == std::errc::no_space_on_device || e.code() == std::errc::file_too_large ||
         e.code().value() == EDQUOT;
}

}  // namespace portico::uploads
