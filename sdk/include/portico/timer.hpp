// portico/timer.hpp - co_await sleep(req, 5s);
#pragma once
#include <chrono>

#include "operation.hpp"

namespace portico {
inline namespace v1 {

class [[nodiscard]] sleep final : public operation {
 public:
  sleep(context c, std::chrono::milliseconds d) noexcept : operation(c), ms_(d.count() > 0 ? d.count() : 0) {}
  void await_resume() const { check(status()); }

 private:
  int32_t start() override {
    return server().timer().after(server().raw(), static_cast<uint64_t>(ms_), &done, arg(), &op_);
  }
  void cancel() noexcept override { server().raw()->cancel(server().raw(), op_); }
  int64_t ms_;
  portico_op op_ = 0;
};

}  // namespace v1
}  // namespace portico
