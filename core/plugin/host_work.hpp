// core/plugin/host_work.hpp - a piece of a plugin's work on the pool.
#pragma once
#include "core/loop/workers.hpp"
#include "core/plugin/tables.hpp"

namespace portico::plugin {

class held_work final : public object {
 public:
  static constexpr kind its_kind = kind::work;
  explicit held_work(loop_state& home) : object(its_kind, home), job_(&on_pool, &done, this) {}
  std::int32_t run(portico_fn, portico_done, void* user);
  std::int32_t cancel() noexcept;
  void stop() noexcept override { cancel(); }

 private:
  static void on_pool(void*);
  static void done(void*, base::status) noexcept;
  loop::job job_;
  portico_fn fn_ = nullptr;
  pending waiting_;
  bool threw_ = false;
};

}  // namespace portico::plugin
