// portico/frame_pool.hpp - where the coroutine frames of requests live: one pool per loop, so no lock and no malloc.
#pragma once
#include <cstddef>
#include <new>

namespace portico {
inline namespace v1 {

class request;

namespace detail {

// Frames of up to 2 KiB are recycled; larger ones, and those without a pool, come from the heap.  A pool is used by one
// loop only; a frame taken from it must be destroyed on that loop.
class frame_pool {
 public:
  frame_pool() = default;
  frame_pool(const frame_pool&) = delete;
  frame_pool& operator=(const frame_pool&) = delete;
  ~frame_pool() {
    for (block*& list : free_)
      while (block* b = list) {
        list = b->next;
        ::operator delete(b);
      }
  }

  static void* take(frame_pool* pool, std::size_t size) {
    const std::size_t k = (size + sizeof(block) - 1) / step;
    if (pool && k < classes) {
      if (block* b = pool->free_[k]) {
        pool->free_[k] = b->next;
        return b + 1;
      }
      return heap(pool, k, (k + 1) * step);
    }
    return heap(nullptr, 0, size + sizeof(block));
  }
  // Whether a handle means the beginning of a frame from here; the last word before a frame is its own address.  g++ 12
  // gets some coroutines wrong: with a co_await in the condition of an if or a loop, and no local variable in the
  // function, all of the frame is a word off, and resuming it would jump anywhere.
  static bool is_sound([[maybe_unused]] void* handle) noexcept {
#if defined(__GNUC__) && !defined(__clang__)
    return static_cast<void**>(handle)[-1] == handle;
#else
    return true;
#endif
  }
  static void give(void* frame) noexcept {
    block* b = static_cast<block*>(frame) - 1;
    if (!b->pool) return ::operator delete(b);
    b->next = b->pool->free_[b->k];
    b->pool->free_[b->k] = b;
  }

 private:
  struct alignas(std::max_align_t) block {
    frame_pool* pool;
    std::size_t k;
    block* next;
    void* frame;  // its own, which begins behind this word
  };
  static_assert(sizeof(block) == 4 * sizeof(void*));
  static void* heap(frame_pool* pool, std::size_t k, std::size_t size) {
    block* b = static_cast<block*>(::operator new(size));
    return new (b) block{pool, k, nullptr, b + 1} + 1;
  }
  static constexpr std::size_t step = 128, classes = 16;
  block* free_[classes] = {};
};

frame_pool* pool_of(request&) noexcept;

// Base of promises.  A coroutine that is a member of request, or whose first parameter is a request&, takes its frame
// from the request's pool.  always_inline, or g++ 12 warns of a mismatched delete in the user's own coroutine.
struct pooled_frame {
  static void* operator new(std::size_t size) { return frame_pool::take(nullptr, size); }
  template <class Self, class... Rest>
  [[gnu::always_inline]] static void* operator new(std::size_t size, Self&, request& r, Rest&...) {
    return frame_pool::take(pool_of(r), size);
  }
  template <class... Rest>
  [[gnu::always_inline]] static void* operator new(std::size_t size, request& r, Rest&...) {
    return frame_pool::take(pool_of(r), size);
  }
  static void operator delete(void* frame) noexcept { frame_pool::give(frame); }
};

}  // namespace detail
}  // namespace v1
}  // namespace portico
