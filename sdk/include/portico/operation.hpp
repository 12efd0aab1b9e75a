// portico/operation.hpp - one pending host operation as an awaitable, and what ends it early.
#pragma once
#include <coroutine>
#include <utility>

#include "host.hpp"

namespace portico {
inline namespace v1 {

class operation;

// The operations that should end together, because the client went or a deadline passed.  Belongs to one loop.
class scope {
 public:
  scope() = default;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  int32_t reason() const noexcept { return reason_; }  // PORTICO_OK while it lasts
  void end(int32_t reason) noexcept;

 private:
  friend class operation;
  operation* first_ = nullptr;
  int32_t reason_ = PORTICO_OK;
};

// Where an operation starts: `server()`, and it lasts until it is done or the plugin stops; or a request, and it also
// ends, with error CLOSED or TIMEOUT, when the client goes or the request's deadline passes.
class context {
 public:
  context(const host& h) noexcept : host_(&h), scope_(nullptr) {}
  context(const host& h, scope& s) noexcept : host_(&h), scope_(&s) {}
  const host& server() const noexcept { return *host_; }
  scope* ends_with() const noexcept { return scope_; }

 private:
  const host* host_;
  scope* scope_;
};

// Derive, start the host's operation in start() with &done and arg(), give the result in await_resume().  What start()
// throws counts as the operation's error.  An operation is awaited once, where it is made.
class operation {
 public:
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) noexcept {
    waiter_ = h;
    if (scope_ && scope_->reason()) return status_ = scope_->reason(), false;
    int32_t rc = PORTICO_E_FAILED;
    try {
      rc = start();
    } catch (const error& e) {  // a capability this server lacks
      rc = e.code();
    } catch (...) {
    }
    if (rc != PORTICO_OK) return status_ = rc, false;
    link();
    return true;
  }

 protected:
  explicit operation(context c) noexcept : host_(&c.server()), scope_(c.ends_with()) {}
  ~operation() = default;
  virtual int32_t start() = 0;
  virtual void cancel() noexcept {}  // must make done come soon

  const host& server() const noexcept { return *host_; }
  void* arg() noexcept { return this; }
  static void PORTICO_CALL done(void* arg, int32_t status) noexcept {
    auto* self = static_cast<operation*>(arg);
    self->unlink();
    self->status_ = status;
    self->waiter_.resume();
  }
  // What await_resume begins with: the code if the operation did not succeed.
  int32_t status() const noexcept {
    return status_ == PORTICO_E_CANCELLED && scope_ && scope_->reason() ? scope_->reason() : status_;
  }

 private:
  friend class scope;
  void link() noexcept {
    if (!scope_) return;
    next_ = scope_->first_;
    if (next_) next_->previous_ = &next_;
    previous_ = &scope_->first_;
    scope_->first_ = this;
  }
  void unlink() noexcept {
    if (!previous_) return;
    *previous_ = next_;
    if (next_) next_->previous_ = previous_;
    previous_ = nullptr;
  }
  const host* host_;
  scope* scope_;
  operation* next_ = nullptr;
  operation** previous_ = nullptr;
  std::coroutine_handle<> waiter_{};
  int32_t status_ = PORTICO_OK;
};

// The host never completes anything from inside cancel(), so the list is stable here.
inline void scope::end(int32_t reason) noexcept {
  if (reason_) return;
  reason_ = reason;
  for (operation* o = first_; o; o = o->next_) o->cancel();
}

}  // namespace v1
}  // namespace portico
