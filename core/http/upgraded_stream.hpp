// core/http/upgraded_stream.hpp - the byte_stream over a connection that a client upgraded.
#pragma once
#include "core/http/byte_stream.hpp"

namespace portico::http {

class connection;

class upgraded_stream final : public byte_stream {
 public:
  explicit upgraded_stream(connection&) noexcept;
  ~upgraded_stream() override;

  loop::event_loop& home() const noexcept override;
  void observe(observer&, std::size_t low_water) noexcept override;
  base::status receive(char* to, std::size_t size, std::size_t* got) noexcept override;
  base::status send(std::string_view) override;
  std::size_t queued() const noexcept override;
  void shut() noexcept override;

  // By the connection.
  void on_readable() noexcept;
  void on_sent() noexcept;
  void on_lost(base::status) noexcept;
  void deliver() noexcept;  // tells the observer; it may destroy the stream
  void orphan() noexcept { connection_ = nullptr; }

 private:
  bool usable() const noexcept;
  connection* connection_;  // nullptr: the server has gone
  loop::event_loop& home_;
  observer* observer_ = nullptr;
  std::size_t low_water_ = 0;
  base::status lost_ = base::ok;
  bool above_ = false, shut_ = false, unread_ = false;
  bool tell_bytes_ = false, tell_drained_ = false, tell_lost_ = false;
};

}  // namespace portico::http
