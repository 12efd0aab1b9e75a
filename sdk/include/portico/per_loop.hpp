// portico/per_loop.hpp - state sharded by loop, so that handlers need no lock.
#pragma once
#include <cstddef>
#include <memory>

#include "host.hpp"

namespace portico {
inline namespace v1 {

// One T for each loop, each on cache lines of its own.  A T is only touched on its loop.
template <class T>
class per_loop {
 public:
  explicit per_loop(const host& h) : host_(h), shards_(std::make_unique<shard[]>(h.loop_count())) {}
  // Of the loop this thread turns.
  T& local() const {
    const int32_t i = host_.loop_index();
    if (i < 0) throw error(PORTICO_E_STATE, "per_loop::local outside a loop");
    return shards_[static_cast<std::size_t>(i)].value;
  }
  T& of(uint32_t loop) const noexcept { return shards_[loop].value; }
  uint32_t size() const noexcept { return host_.loop_count(); }

 private:
  struct alignas(64) shard {
    T value{};
  };
  host host_;
  std::unique_ptr<shard[]> shards_;
};

}  // namespace v1
}  // namespace portico
