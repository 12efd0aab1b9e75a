// plugins/uploads/disk_file.hpp - a file of this machine that lies below one folder.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/uploads/clock.hpp"

namespace portico::uploads {

// An open regular file.  All members but handle may block: pool threads only; one thread at a time.
class disk_file {
 public:
  // path: absolute and free of symbolic links, as locate() gives it; a link that has come into it since is not
  // followed. Nothing: it is not there, is no regular file, or must not be read.
  static std::optional<disk_file> open(const std::string& path);

  disk_file(disk_file&&) noexcept;
  disk_file& operator=(disk_file&&) = delete;
  ~disk_file();

  std::uint64_t size() const noexcept { return size_; }  // bytes, when it was opened
  instant changed() const noexcept { return changed_; }  // its modification time, when it was opened
  std::intptr_t handle() const noexcept { return handle_; }
  // Has the system hold these bytes in memory, so that who reads them next need not wait.  std::system_error when they
  // cannot be read.
  void fetch(std::uint64_t offset, std::uint64_t size) const;
  // At most `size` bytes from offset; how many, 0 at the end.  std::system_error.
  std::size_t read(std::uint64_t offset, char* out, std::size_t size) const;

 private:
  disk_file() = default;
  std::intptr_t handle_ = -1;
  std::uint64_t size_ = 0;
  instant changed_ = 0;
};

struct location {
  enum class outcome { found, missing, outside } what;
  std::string path;      // found: absolute, free of symbolic links
  std::string relative;  // found: below the folder, joined by '/'
};

// Finds an absolute path below a folder.  outside: it is not written as lying below the folder, or links lead it out;
// for the first the file system is not asked, so nothing is told about the rest of the machine.  missing: also when it
// is no regular file.  May block.
location locate(const std::string& folder, std::string_view path);

}  // namespace portico::uploads
