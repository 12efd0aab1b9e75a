// plugins/uploads/spool.hpp - a temporary file that leaves nothing behind, also not when the process dies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace portico::uploads {

// Where spools are made.  All members may block: pool threads and start() only.
class spool_folder {
 public:
  // Makes the folder (0700) if it is not there, and removes what earlier processes left in it.  std::system_error, its
  // text naming the path.
  explicit spool_folder(std::string path);
  const std::string& path() const noexcept { return path_; }
  // What this user may still write there.  std::system_error.
  std::uint64_t free_bytes() const;

 private:
  std::string path_;
};

// One file, open for reading and writing.  It has no name where the system can do so (O_TMPFILE); elsewhere it has one
// and is locked, so that the next start knows that nobody uses it any more.  Blocking; one thread at a time.
class spool {
 public:
  // std::system_error.
  explicit spool(const spool_folder&);
  spool(const spool&) = delete;
  spool& operator=(const spool&) = delete;
  ~spool();  // removes it

  // Appends.  std::system_error; is_full() tells whether the disk, or the quota, is full.
  void write(std::string_view bytes);
  // At most `size` bytes from `offset` into `out`; how many, 0 at the end.  std::system_error.
  std::size_t read(std::uint64_t offset, char* out, std::size_t size) const;
  std::uint64_t size() const noexcept { return size_; }

  // For whoever puts the file in its place: the system's handle, and the name, empty where it has none.
  std::intptr_t handle() const noexcept { return handle_; }
  const std::string& name() const noexcept { return name_; }
  // It has been moved away under its name: nothing is removed any more.
  void release() noexcept { name_.clear(); }

 private:
  std::intptr_t handle_;
  std::string name_;
  std::uint64_t size_ = 0;
};

bool is_full(const std::system_error&) noexcept;

}  // namespace portico::uploads
