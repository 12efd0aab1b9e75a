#include "core/http/server.hpp"

#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/http/client_count.hpp"
#include "core/http/listener.hpp"
#include "core/http/shard.hpp"

namespace portico::http {

struct server::state final : listener::taker {
  limits bounds;
  std::vector<std::unique_ptr<shard>> shards;  // one per loop, in their order
  std::vector<std::unique_ptr<listener>> listeners;
  client_count clients;
  counter accepted, refused;
  std::function<void()> drained;
  std::size_t busy_shards = 0;

  explicit state(const limits& l) : bounds(l), clients(l.connections_per_client, l.uncounted) {}

  loop::event_loop& first_loop() const noexcept { return shards.front()->home; }

  std::size_t open() const noexcept {
    std::size_t n = 0;
    for (const auto& s : shards) n += s->open();
    return n;
  }

  bool full() const noexcept override { return bounds.max_connections > 0 && open() >= bounds.max_connections; }

  void on_accepted(net::descriptor socket, const net::endpoint& peer) override {
    accepted.add(1);
    if (!clients.enter(peer)) return refuse(socket, peer);
    const auto fewest = std::min_element(shards.begin(), shards.end(),
                                         [](const auto& a, const auto& b) { return a->open() < b->open(); });
    (*fewest)->give(socket, peer);
  }

  // The first is told of in the log; who has too many connections may try very often.
  void refuse(net::descriptor socket, const net::endpoint& peer) noexcept {
    net::close(socket);
    if (refused.get() == 0)
      base::log(base::level::warning, "http",
                std::string(peer.address()) +
                    " has as many connections as connections_per_client allows; what comes "
                    "above is closed, and not logged again");
    refused.add(1);
  }

  // On a shard's loop: it has no connections left.
  static void on_empty(void* self) {
    auto* s = static_cast<state*>(self);
    s->first_loop().post(
        [](void* user) {
          auto* me = static_cast<state*>(user);
          if (--me->busy_shards == 0 && me->drained) std::exchange(me->drained, {})();
        },
        s);
  }
};

server::server(std::span<loop::event_loop* const> loops, const limits& l, handler& h)
    : state_(std::make_unique<state>(l)) {
  for (loop::event_loop* one : loops)
    state_->shards.push_back(std::make_unique<shard>(*one, state_->bounds, h, state_->clients));
}

server::~server() = default;

std::uint16_t server::listen(const std::string& host, std::uint16_t port) {
  const std::vector<net::listening> sockets = net::listen(host, port);
  for (const net::listening& s : sockets)
    state_->listeners.push_back(std::make_unique<listener>(state_->first_loop(), s, *state_));
  return sockets.front().port;
}

void server::start() {
  for (const auto& l : state_->listeners) l->start();
}

void server::drain(std::function<void()> done) {
  state_->listeners.clear();
  state_->drained = std::move(done);
  state_->busy_shards = state_->shards.size();
  for (const auto& s : state_->shards)
    s->home.post([one = s.get(), all = state_.get()] { one->drain(state::on_empty, all); });
}

void server::close_all() {
  for (const auto& s : state_->shards) s->home.post([one = s.get()] { one->close_all(); });
}

statistics server::stats() const noexcept {
  statistics sum;
  sum.connections_accepted = state_->accepted.get();
  sum.connections_refused = state_->refused.get();
  for (const auto& s : state_->shards) {
    sum.connections_open += s->open();
    sum.requests += s->requests.get();
    sum.responses_4xx += s->responses_4xx.get();
    sum.responses_5xx += s->responses_5xx.get();
    sum.bytes_in += s->bytes_in.get();
    sum.bytes_out += s->bytes_out.get();
  }
  return sum;
}

}  // namespace portico::http
