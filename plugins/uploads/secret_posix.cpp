#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/secret.hpp"

namespace portico::uploads {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error("secret_file " + path + ": " + what);
}

class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::string read_secret(const std::string& path, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail(path, "is not a regular file");
  if (info.st_mode & 077) fail(path, "can be read by other users; take their rights away (chmod 600)");
  char bytes[secret_size + 1];
  const ssize_t n = ::read(fd, bytes, sizeof bytes);
  if (n < 0) fail(path, std::strerror(errno));
  if (static_cast<std::size_t>(n) != secret_size)
    fail(path, "must hold exactly 32 bytes; remove it to have a new one made (output ids given out earlier then end)");
  return std::string(bytes, secret_size);
}

// Written beside its place and linked there, so that the file is whole from the moment it can be seen.
void make_secret(const std::string& path) {
  const std::string beside = path + "." + random_uuid();
  {
    const descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) fail(path, std::string("cannot be made: ") + std::strerror(errno));
    const std::string secret = random_bytes(secret_size);
    const bool written = ::write(file.get(), secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()) &&
                         ::fsync(file.get()) == 0;
    if (!written) {
      const int why = errno;
      ::unlink(beside.c_str());
      fail(path, std::string("cannot be written: ") + std::strerror(why));
    }
  }
  const int linked = ::link(beside.c_str(), path.c_str());
  const int why = errno;
  ::unlink(beside.c_str());
  if (linked != 0 && why != EEXIST) fail(path, std::string("cannot be made: ") + std::strerror(why));
}

}  // namespace

std::string secret_in(const std::string& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() >= 0) return read_secret(path, file.get());
    if (errno != ENOENT) fail(path, std::strerror(errno));
    make_secret(path);
  }
  fail(path, "disappears as soon as it is made");
}

}  // namespace portico::uploads
