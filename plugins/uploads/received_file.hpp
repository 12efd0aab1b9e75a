// plugins/uploads/received_file.hpp - the bytes of an upload: in memory while they are few, else in a spool.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <portico/sdk.hpp>

#include "plugins/uploads/content_hash.hpp"
#include "plugins/uploads/spool.hpp"

namespace portico::uploads {

// Belongs to one request.  It holds 256 KiB of memory at most, whatever the size.
class received_file {
 public:
  static constexpr std::size_t piece = 256 * 1024;  // bytes

  // The folder outlives it.
  explicit received_file(const spool_folder& folder) noexcept : folder_(folder) {}

  // Appends bytes if that needs no disk; else false, and append must be used.
  bool keep(std::string_view bytes);
  // Appends bytes, which stay valid until the task is done.  http_error 507: the disk is full.
  task<> append(context, std::string_view bytes);
  // No more bytes come: from here on hash() can be asked.
  task<> finish(context);
  // Has the bytes in a file, for one that must be one.  After finish.
  task<> need_file(context);

  std::uint64_t size() const noexcept { return size_; }
  const std::string& hash() const noexcept { return hash_text_; }
  // The next bytes from offset, at most a piece of them, empty at the end; valid until the next call.  After finish.
  task<std::string_view> read(context, std::uint64_t offset);
  // nullptr: the bytes are in memory.
  spool* file() noexcept { return spool_ ? &*spool_ : nullptr; }

 private:
  void spill(std::string_view more);

  const spool_folder& folder_;
  std::string buffer_;
  std::optional<spool> spool_;
  content_hash hash_;
  std::string hash_text_;
  std::uint64_t size_ = 0;
};

}  // namespace portico::uploads
