// plugins/jobs/flight.hpp - something under way that several coroutines of one loop wait for.
#pragma once
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <portico/operation.hpp>

namespace jobs {

// Belongs to one loop.  Held by shared_ptr, so that those who wait find it when it has landed.  It must land: whoever
// makes one lands it however its work ends.
class flight {
 public:
  explicit flight(const portico::host& h) noexcept : host_(h) {}
  flight(const flight&) = delete;
  flight& operator=(const flight&) = delete;

  // Those who wait go on in a later turn; with a failure it is thrown at each of them, and at all who wait from now on.
  void land(std::exception_ptr failure = nullptr) {
    failure_ = std::move(failure);
    landed_ = true;
    for (wait_op* w : std::exchange(waiting_, {})) w->wake();
  }

  class [[nodiscard]] wait_op final : public portico::operation {
   public:
    explicit wait_op(flight& f) noexcept : operation(portico::context(f.host_)), flight_(f) {}
    void await_resume() const {
      if (flight_.failure_) std::rethrow_exception(flight_.failure_);
    }

   private:
    friend class flight;
    int32_t start() noexcept override {
      if (flight_.landed_) return PORTICO_READY;
      try {
        flight_.waiting_.push_back(this);
      } catch (...) {
        return PORTICO_E_FAILED;
      }
      return PORTICO_OK;
    }
    void wake() noexcept {
      server().raw()->post(server().raw(), static_cast<uint32_t>(server().loop_index()), &go_on, arg());
    }
    static void PORTICO_CALL go_on(void* arg) noexcept { done(arg, PORTICO_OK); }
    flight& flight_;
  };
  // co_await f->wait(), f being a shared_ptr of the caller's own.
  wait_op wait() noexcept { return wait_op(*this); }

 private:
  const portico::host& host_;
  std::vector<wait_op*> waiting_;
  std::exception_ptr failure_;
  bool landed_ = false;
};

}  // namespace jobs
