#include "core/upstream/connector.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/http/socket.hpp"
#include "core/upstream/client_state.hpp"

namespace portico::upstream {

connector::connector(client_state& client, observer& o, std::chrono::milliseconds stall)
    : client_(client),
      observer_(o),
      stall_(stall),
      timer_(
          client.loop, [](void* self) { static_cast<connector*>(self)->on_timer(); }, this) {}

connector::~connector() { drop_socket(); }

void connector::drop_socket() noexcept {
  if (!has_socket_) return;
  client_.loop.sockets().remove(socket_, this);
  http::net::close(socket_);
  has_socket_ = false;
}

void connector::start(origin& at, std::string_view host, std::uint16_t port, loop::clock::time_point deadline) {
  origin_ = &at;
  port_ = port;
  deadline_ = deadline;
  why_ = "no answer in time";
  timer_.start_at(deadline_);
  if (const auto numeric = numeric_address(host, port)) {
    addresses_.assign(1, *numeric);
  } else {
    const std::vector<address>* known = client_.names.ask(host, *this);
    if (!known) return;
    addresses_ = *known;
  }
  try_next();
}

void connector::on_addresses(const std::vector<address>& found, std::string_view error) noexcept {
  addresses_ = found;
  if (found.empty()) why_ = error;
  try_next();
}

void connector::try_next() {
  while (next_ < addresses_.size()) {
    const auto left = static_cast<int>(addresses_.size() - next_);
    const address to = with_port(addresses_[next_++], port_);
    int error = 0;
    const dialled d = dial(to, &socket_, &error);
    if (d == dialled::failed) {
      why_ = error_text(error);
      continue;
    }
    try {
      // One that is connected already is writable, and told in the next turn like any other.
      client_.loop.sockets().add(socket_, loop::writable, this);
    } catch (const std::system_error& e) {
      http::net::close(socket_);
      why_ = e.what();
      continue;
    }
    has_socket_ = true;
    const loop::clock::time_point now = client_.loop.now();
    timer_.start_at(now + std::max(deadline_ - now, loop::clock::duration::zero()) / left);
    return;
  }
  over_ = true;
  timer_.start(std::chrono::milliseconds(0));
}

void connector::next_after(std::string why) {
  drop_socket();
  why_ = std::move(why);
  try_next();
}

void connector::on_timer() {
  if (over_ || !has_socket_) return give_up();  // a name that is not answered in time has no address to go on with
  next_after("no answer in time");
}

void connector::give_up() {
  forget();
  client_.unreached(*origin_, why_);
  observer_.on_unreachable();
}

void connector::on_ready(unsigned) noexcept {
  if (const int error = dial_error(socket_); error != 0) return next_after(error_text(error));
  client_.loop.sockets().remove(socket_, this);
  has_socket_ = false;
  std::unique_ptr<socket_stream> stream;
  try {
    stream = std::make_unique<socket_stream>(client_.loop, client_.buffers, client_.streams, socket_, stall_);
  } catch (const std::system_error& e) {
    return next_after(e.what());
  }
  timer_.cancel();
  client_.reached(*origin_);
  observer_.on_connected(std::move(stream));
}

}  // namespace portico::upstream
