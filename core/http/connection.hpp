// core/http/connection.hpp - one client: a socket, and the requests that come over it, one at a time and in order.
//
// Belongs to one loop.  Lives until its socket is closed and the exchange, or the stream it became, was given back; it
// is then destroyed by its shard at the end of a turn, never from inside a call.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>

#include "core/http/exchange.hpp"
#include "core/http/parser.hpp"
#include "core/http/request_body.hpp"
#include "core/http/shard.hpp"
#include "core/http/transport.hpp"

namespace portico::http {

class upgraded_stream;

class connection final : public loop::watcher, public loop::turn_end {
 public:
  connection(shard&, net::descriptor, const net::endpoint& peer);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void drain() noexcept;             // closes if nothing has begun; a head that has must be complete soon
  void lose(base::status) noexcept;  // closes; whoever waits is told
  const net::endpoint& peer() const noexcept { return peer_; }

  connection *next = nullptr, *previous = nullptr;  // in the shard's list

 private:
  friend class exchange;
  friend class upgraded_stream;
  using time = loop::clock::time_point;
  enum class phase : std::uint8_t {
    idle,       // between requests
    head,       // a part of a head has come
    held,       // the exchange is with whoever answers
    answered,   // given back; the answer is on its way out
    refused,    // the engine's own answer is on its way out
    lingering,  // all is sent; what the client still sends is dropped, so that it can read the answer
    upgraded,
    gone,  // the socket is closed and nobody holds anything
  };

  void on_ready(unsigned readiness) noexcept override;
  void on_turn_end() noexcept override;
  static void on_timer(void* self) noexcept;

  // Input.
  void on_readable() noexcept;
  void receive_head();
  void receive_body();
  void receive_ahead();
  void on_end_of_input() noexcept;
  void linger() noexcept;
  void next_request();
  void begin_exchange();

  // Output and the end of a request.
  void flush() noexcept;
  void refuse(const refusal&);       // answers in the engine's own name
  void refuse_body(const refusal&);  // while the exchange is held; to its holder the client has gone
  void give_back() noexcept;         // by the exchange: finish
  void reset_now() noexcept;         // by the exchange: abort
  bool step();                       // one round of a turn's end; whether another is due
  bool end_exchange();
  void end_connection(bool unread) noexcept;

  // Deadlines.  The timer is not moved for each: it fires at the earliest ever asked for and then looks.
  void expect_by(time& which, std::chrono::milliseconds from_now);
  void look_by(time when);
  void check_deadlines();
  void wake() noexcept { shard_.home.at_turn_end(*this); }

  shard& shard_;
  transport transport_;
  buffer in_;  // the head at hand, and what came behind it
  request_parser parser_;
  request_body body_;
  exchange exchange_;
  upgraded_stream* stream_ = nullptr;
  loop::timer timer_;
  time looks_at_{}, phase_by_ = time::max(), body_by_ = time::max(), write_by_ = time::max();
  std::uint64_t sent_before_ = 0;
  net::endpoint peer_;
  phase phase_ = phase::idle;
  bool close_after_ = false, input_ended_ = false, told_finished_ = false, refused_body_ = false;
};

}  // namespace portico::http
