// core/http/listener.hpp - one listening socket: takes in who waits and hands them on.  On loop 0.
#pragma once
#include <cstdint>

#include "core/http/socket.hpp"
#include "core/loop/loop.hpp"

namespace portico::http {

class listener final : public loop::watcher {
 public:
  // Who takes what was accepted.
  class taker {
   public:
    virtual void on_accepted(net::descriptor, const net::endpoint& peer) = 0;
    virtual bool full() const noexcept = 0;  // takes nothing now; asked again in a moment

   protected:
    ~taker() = default;
  };

  listener(loop::event_loop&, const net::listening&, taker&);  // takes the socket
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void start();

 private:
  void on_ready(unsigned readiness) noexcept override;
  void rest() noexcept;
  static void on_rested(void* self) noexcept;
  loop::event_loop& loop_;
  net::descriptor socket_;
  taker& taker_;
  loop::timer rested_;
  bool watched_ = false, told_ = false;
};

}  // namespace portico::http
