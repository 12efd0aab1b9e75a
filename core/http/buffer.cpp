#include "core/http/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace portico::http {

namespace {
constexpr std::size_t most_kept = 256;  // blocks: 4 MiB per loop
}

buffer_pool::~buffer_pool() {
  for (char* p : free_) ::operator delete(p);
}

char* buffer_pool::take(std::size_t size) {
  if (size != block || free_.empty()) return static_cast<char*>(::operator new(size));
  char* p = free_.back();
  free_.pop_back();
  return p;
}

void buffer_pool::give(char* p, std::size_t size) noexcept {
  if (size == block && free_.size() < most_kept) {
    if (free_.capacity() == 0) free_.reserve(most_kept);
    free_.push_back(p);
  } else {
    ::operator delete(p);
  }
}

std::span<char> buffer::room(std::size_t least) {
  if (empty()) begin_ = end_ = 0;
  if (capacity_ - end_ >= least) return spare();
  const std::size_t used = size();
  if (capacity_ >= used + least && begin_ >= capacity_ / 2) {
    std::memmove(memory_, memory_ + begin_, used);
  } else {
    std::size_t bigger = std::max(buffer_pool::block, capacity_);
    while (bigger < used + least) bigger *= 2;
    char* fresh = pool_.take(bigger);
    if (used > 0) std::memcpy(fresh, memory_ + begin_, used);
    if (memory_) pool_.give(memory_, capacity_);
    memory_ = fresh;
    capacity_ = bigger;
  }
  begin_ = 0;
  end_ = used;
  return spare();
}

void buffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
  end_ += bytes.size();
}

void buffer::release() noexcept {
  if (memory_) pool_.give(memory_, capacity_);
  memory_ = nullptr;
  begin_ = end_ = capacity_ = 0;
}

}  // namespace portico::http
