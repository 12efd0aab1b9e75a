// portico/work.hpp - auto n = co_await work(req, [&] { return count_rows(db); });
#pragma once
#include <exception>
#include <optional>
#include <type_traits>

#include "operation.hpp"

namespace portico {
inline namespace v1 {

// Runs f on the pool.  It may block; what it throws is thrown at the co_await.  Capture by reference only: the frame
// keeps its locals alive, and g++ 12 destroys by-value captures twice.  error LIMIT: the queue is full.
template <class F>
class [[nodiscard]] work final : public operation {
  using result = std::invoke_result_t<F&>;
  using stored = std::conditional_t<std::is_void_v<result>, bool, result>;

 public:
  static_assert(std::is_trivially_destructible_v<F>, "capture by reference: work(req, [&] { ... })");
  work(context c, F f) noexcept : operation(c), f_(f) {}
  result await_resume() {
    check(status());
    if (failure_) std::rethrow_exception(failure_);
    if constexpr (!std::is_void_v<result>) return std::move(*value_);
  }

 private:
  int32_t start() override { return server().work().run(server().raw(), &on_pool, &operation::done, arg(), &op_); }
  void cancel() noexcept override { server().raw()->cancel(server().raw(), op_); }
  static void PORTICO_CALL on_pool(void* user) noexcept {
    auto& self = *static_cast<work*>(static_cast<operation*>(user));
    try {
      if constexpr (std::is_void_v<result>)
        self.f_();
      else
        self.value_.emplace(self.f_());
    } catch (...) {
      self.failure_ = std::current_exception();
    }
  }
  F f_;
  std::optional<stored> value_;
  std::exception_ptr failure_;
  portico_op op_ = 0;
};

}  // namespace v1
}  // namespace portico
