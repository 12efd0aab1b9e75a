// core/http/buffer.hpp - the memory of a loop's connections: blocks that go back to a pool when they are empty.
//
// One pool per loop, on its thread; so an idle connection holds none, and a busy one finds its block warm.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace portico::http {

class buffer_pool {
 public:
  static constexpr std::size_t block = 16 * 1024;

  buffer_pool() = default;
  ~buffer_pool();
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;

  // size: block, or more.  Blocks are kept for the next taker, up to a few hundred; what is larger is not.
  char* take(std::size_t size);
  void give(char*, std::size_t size) noexcept;

 private:
  std::vector<char*> free_;
};

// Bytes in one piece: appended at the end, consumed at the front.
class buffer {
 public:
  explicit buffer(buffer_pool& pool) noexcept : pool_(pool) {}
  ~buffer() { release(); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  char* data() noexcept { return memory_ + begin_; }
  const char* data() const noexcept { return memory_ + begin_; }
  std::size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return begin_ == end_; }
  std::string_view view() const noexcept { return {data(), size()}; }
  std::size_t capacity() const noexcept { return capacity_; }

  // The free space behind the bytes, at least `least` bytes; moves or replaces the memory where that must be.
  std::span<char> room(std::size_t least);
  // What is free without moving a byte; may be empty.
  std::span<char> spare() noexcept { return {memory_ + end_, capacity_ - end_}; }
  void added(std::size_t n) noexcept { end_ += n; }
  void append(std::string_view);

  void consume(std::size_t n) noexcept { begin_ += n; }
  void clear() noexcept { begin_ = end_ = 0; }
  void release() noexcept;  // forgets the bytes and gives the memory back

 private:
  buffer_pool& pool_;
  char* memory_ = nullptr;
  std::size_t begin_ = 0, end_ = 0, capacity_ = 0;
};

}  // namespace portico::http
