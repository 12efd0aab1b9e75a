#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "plugins/job_store_sqlite/owner.hpp"

namespace job_store {
namespace {

[[noreturn]] void fail(const std::string& folder, const std::string& what) {
  throw std::runtime_error("directory " + folder + ": " + what);
}

std::string holder_in(int file) {
  char text[32];
  const ssize_t n = ::pread(file, text, sizeof text, 0);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string("unknown");
}

}  // namespace

owner::owner(const std::string& folder) : file_(-1) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    fail(folder, std::string("cannot be made: ") + std::strerror(errno));
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) fail(folder, std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) fail(folder, "is not a folder");
  const int file = ::open((folder + "/owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    fail(folder, std::string("cannot be written by user ") + std::to_string(::geteuid()) + ": " + std::strerror(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = holder_in(file);
    ::close(file);
    fail(folder, "is in use by another portico (process " + holder + "); give each one a directory of its own");
  }
  const std::string me = std::to_string(::getpid());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, me.data(), me.size(), 0) < 0) {  // only for the message above
  }
  file_ = file;
}

owner::~owner() { ::close(static_cast<int>(file_)); }

}  // namespace job_store
