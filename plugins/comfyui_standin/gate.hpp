// plugins/comfyui_standin/gate.hpp - lets one coroutine wait until another says go.
#pragma once
#include <coroutine>
#include <cstdint>
#include <utility>

#include <portico/error.hpp>
#include <portico/host.hpp>

namespace standin {

// Belongs to one loop: everything is called there, and the coroutine goes on there, in a later turn.  One waits at a
// time.
class gate {
 public:
  gate(portico::host h, std::uint32_t loop) noexcept : host_(h), loop_(loop) {}
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  // Lets the one that waits pass, or the next one that would wait.
  void open() noexcept {
    open_ = true;
    if (waiter_) host_.raw()->post(host_.raw(), loop_, &resume, std::exchange(waiter_, {}).address());
  }
  // For ever: who waits, or will, gets error CANCELLED.
  void shut() noexcept {
    shut_ = true;
    open();
  }

  class awaiter {
   public:
    explicit awaiter(gate& g) noexcept : gate_(&g) {}
    bool await_ready() const noexcept { return gate_->open_ || gate_->shut_; }
    void await_suspend(std::coroutine_handle<> h) noexcept { gate_->waiter_ = h; }
    void await_resume() const {
      gate_->open_ = false;
      if (gate_->shut_) throw portico::error(PORTICO_E_CANCELLED);
    }

   private:
    gate* gate_;
  };
  awaiter operator co_await() noexcept { return awaiter(*this); }

 private:
  static void PORTICO_CALL resume(void* frame) noexcept { std::coroutine_handle<>::from_address(frame).resume(); }
  portico::host host_;
  std::uint32_t loop_;
  std::coroutine_handle<> waiter_{};
  bool open_ = false, shut_ = false;
};

}  // namespace standin
