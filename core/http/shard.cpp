#include "core/http/shard.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"
#include "core/http/client_count.hpp"
#include "core/http/connection.hpp"

namespace portico::http {

shard::shard(loop::event_loop& l, const limits& b, handler& h, client_count& clients)
    : home(l), bounds(b), answers(h), clients_(clients) {}

shard::~shard() {
  while (first_) delete std::exchange(first_, first_->next);
}

void shard::give(net::descriptor socket, const net::endpoint& peer) {
  open_.fetch_add(1, std::memory_order_relaxed);
  if (home.here()) return begin(socket, peer);
  // Closes the socket if the loop ends before it gets here.
  struct closer {
    net::descriptor fd;
    bool owns = true;
    explicit closer(net::descriptor d) noexcept : fd(d) {}
    closer(closer&& other) noexcept : fd(other.fd), owns(std::exchange(other.owns, false)) {}
    ~closer() {
      if (owns) net::close(fd);
    }
  };
  home.post([this, held = closer(socket), peer]() mutable {
    held.owns = false;
    begin(held.fd, peer);
  });
}

void shard::begin(net::descriptor socket, const net::endpoint& peer) {
  if (!draining_) {
    try {
      auto* c = new connection(*this, socket, peer);
      c->next = first_;
      if (first_) first_->previous = c;
      first_ = c;
      return;
    } catch (const std::system_error& e) {
      base::log(base::level::error, "http", std::string("a connection could not be watched: ") + e.what());
    }
  }
  net::close(socket);
  left(peer);
}

void shard::remove(connection& c) noexcept {
  (c.previous ? c.previous->next : first_) = c.next;
  if (c.next) c.next->previous = c.previous;
  const net::endpoint peer = c.peer();
  delete &c;
  left(peer);
}

void shard::left(const net::endpoint& peer) noexcept {
  clients_.leave(peer);
  if (open_.fetch_sub(1, std::memory_order_relaxed) == 1 && empty_) std::exchange(empty_, nullptr)(empty_user_);
}

void shard::drain(void (*empty)(void*), void* user) {
  draining_ = true;
  for (connection* c = first_; c; c = c->next) c->drain();
  if (open() == 0) return empty(user);
  empty_ = empty;
  empty_user_ = user;
}

void shard::close_all() noexcept {
  for (connection* c = first_; c; c = c->next) c->lose(base::closed);
}

}  // namespace portico::http
