// core/plugin/host_timer.hpp - a timer of a plugin.
#pragma once
#include "core/loop/loop.hpp"
#include "core/plugin/tables.hpp"

namespace portico::plugin {

class held_timer final : public object {
 public:
  static constexpr kind its_kind = kind::timer;
  explicit held_timer(loop_state& home) : object(its_kind, home), timer_(home.loop, &due, this) {}
  void start(std::uint64_t ms, portico_done, void* user);
  std::int32_t cancel() noexcept;
  void stop() noexcept override { cancel(); }

 private:
  static void due(void*) noexcept;
  loop::timer timer_;
  pending waiting_;
  base::status result_ = base::ok;
};

}  // namespace portico::plugin
