#include "plugins/uploads/received_file.hpp"

#include "plugins/uploads/on_pool.hpp"

namespace portico::uploads {

bool received_file::keep(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > piece) return false;
  if (buffer_.size() + bytes.size() > buffer_.capacity()) buffer_.reserve(buffer_.empty() ? bytes.size() : piece);
  buffer_.append(bytes);
  size_ += bytes.size();
  return true;
}

task<> received_file::append(context where, std::string_view bytes) {
  auto to_disk = [&] { spill(bytes); };
  co_await on_pool(where, to_disk);
  size_ += bytes.size();
}

task<> received_file::finish(context where) {
  if (spool_ && !buffer_.empty()) {
    auto to_disk = [&] { spill({}); };
    co_await on_pool(where, to_disk);
  }
  if (!spool_) hash_.update(buffer_);  // so little that a trip to the pool would take longer
  hash_text_ = hash_.text();
}

task<> received_file::need_file(context where) {
  if (spool_) co_return;
  auto to_disk = [&] { spill({}); };
  co_await on_pool(where, to_disk);
}

task<std::string_view> received_file::read(context where, std::uint64_t offset) {
  if (!spool_) co_return offset < buffer_.size() ? std::string_view(buffer_).substr(offset) : std::string_view();
  std::size_t count = 0;
  auto from_disk = [&] {
    buffer_.resize(piece);
    count = spool_->read(offset, buffer_.data(), buffer_.size());
  };
  co_await on_pool(where, from_disk);
  co_return std::string_view(buffer_).substr(0, count);
}

// On a pool thread: what is held, then more, goes into the spool and into the hash.
void received_file::spill(std::string_view more) {
  try {
    if (!spool_) spool_.emplace(folder_);
    for (const std::string_view bytes : {std::string_view(buffer_), more}) {
      spool_->write(bytes);
      hash_.update(bytes);
    }
    buffer_.clear();
  } catch (const std::system_error& e) {
    if (!is_full(e)) throw;
    throw http_error(507, "insufficient_storage", "there is not enough space left on the disk for this upload");
  }
}

}  // namespace portico::uploads
