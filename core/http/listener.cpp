#include "core/http/listener.hpp"

#include <chrono>
#include <system_error>

#include "core/base/log.hpp"

namespace portico::http {

listener::listener(loop::event_loop& l, const net::listening& s, taker& t)
    : loop_(l), socket_(s.socket), taker_(t), rested_(l, on_rested, this) {}

listener::~listener() {
  if (watched_) loop_.sockets().remove(socket_, this);
  net::close(socket_);
}

void listener::start() {
  if (watched_) return;
  loop_.sockets().add(socket_, loop::readable, this);
  watched_ = true;
}

void listener::on_ready(unsigned) noexcept {
  constexpr int at_once = 64;  // then the connections that are there have their turn
  for (int i = 0; i < at_once; ++i) {
    if (taker_.full()) return rest();
    net::descriptor socket;
    net::endpoint peer;
    switch (net::accept(socket_, &socket, &peer)) {
      case net::accepting::accepted:
        told_ = false;
        taker_.on_accepted(socket, peer);
        break;
      case net::accepting::again:
        break;
      case net::accepting::nothing:
        return;
      case net::accepting::exhausted:
        if (!told_)
          base::log(base::level::warning, "http", "no descriptors are left: new connections wait until others end");
        told_ = true;
        return rest();
    }
  }
}

// Looking again at once would find the same; those who wait are kept by the system.
void listener::rest() noexcept {
  loop_.sockets().remove(socket_, this);
  watched_ = false;
  rested_.start(std::chrono::milliseconds(100));
}

void listener::on_rested(void* self) noexcept {
  auto* l = static_cast<listener*>(self);
  try {
    l->start();
  } catch (const std::system_error&) {
    l->rested_.start(std::chrono::milliseconds(100));
  }
}

}  // namespace portico::http
