// core/upstream/connector.hpp - from the name of a server to a connected socket.  Private to core/upstream.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/loop/loop.hpp"
#include "core/upstream/dial.hpp"
#include "core/upstream/resolver.hpp"
#include "core/upstream/socket_stream.hpp"

namespace portico::upstream {

struct client_state;
struct origin;

// One attempt: the name's addresses in order, each with its share of the time.  Destroying it gives up.
class connector final : resolver::query, loop::watcher {
 public:
  class observer {
   public:
    // From the loop; they may destroy the connector.  A failure is always base::unreachable, and has been logged.
    virtual void on_connected(std::unique_ptr<socket_stream>) noexcept = 0;
    virtual void on_unreachable() noexcept = 0;

   protected:
    ~observer() = default;
  };

  // stall: of the stream.
  connector(client_state&, observer&, std::chrono::milliseconds stall);
  ~connector();
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;

  void start(origin&, std::string_view host, std::uint16_t port, loop::clock::time_point deadline);

 private:
  void on_addresses(const std::vector<address>&, std::string_view error) noexcept override;
  void on_ready(unsigned) noexcept override;
  void on_timer();
  void try_next();
  void next_after(std::string why);
  void give_up();
  void drop_socket() noexcept;

  client_state& client_;
  observer& observer_;
  const std::chrono::milliseconds stall_;
  origin* origin_ = nullptr;
  std::vector<address> addresses_;
  std::size_t next_ = 0;
  std::uint16_t port_ = 0;
  loop::clock::time_point deadline_{};
  loop::timer timer_;
  std::string why_;
  loop::descriptor socket_{};
  bool has_socket_ = false;
  bool over_ = false;  // all failed; the observer hears of it when the timer fires
};

}  // namespace portico::upstream
