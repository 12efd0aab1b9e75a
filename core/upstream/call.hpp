// core/upstream/call.hpp - one call, from its request's head to the end of its answer.  Private to core/upstream.
//
// call.cpp: what the owner asks.  call_events.cpp: what the connection and the clock tell.  call_pipe.cpp: the pipes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/buffer.hpp"
#include "core/loop/loop.hpp"
#include "core/upstream/client_state.hpp"
#include "core/upstream/connection.hpp"
#include "core/upstream/connector.hpp"

namespace portico::upstream {

// Somebody waits for an operation.
struct waiting {
  base::completion done = nullptr;
  void* user = nullptr;
  explicit operator bool() const noexcept { return done != nullptr; }
  void complete(base::status s) {
    const waiting w = std::exchange(*this, waiting());
    w.done(w.user, s);
  }
};

class call_impl final : public call, connection_user, connector::observer {
 public:
  static constexpr std::size_t high_water = 64 * 1024;  // bytes queued before a write waits

  // The request's head is formatted by open; see client.cpp for what it may be given.
  call_impl(std::shared_ptr<client_state>, const settings&, const call_options&);
  ~call_impl() override;

  // at, host, port: where to; authority and the like stand in head.
  void start(origin& at, std::string_view host, std::uint16_t port);
  http::buffer& head_bytes() noexcept { return request_; }

  base::status write(std::string_view bytes, base::completion done, void* user) override;
  base::status end() override;
  base::status head(const answer_head** out, base::completion done, void* user) override;
  base::status read(std::size_t max, std::string_view* chunk, base::completion done, void* user) override;
  base::status pipe_request(http::exchange& from, pipe_result*, base::completion done, void* user) override;
  base::status pipe_response(http::exchange& to, pipe_result*, base::completion done, void* user) override;
  base::status cancel() override;
  void stop() override;
  bool busy() const noexcept override { return writing_ || heading_ || reading_ || pipe_.waits; }

 private:
  struct pipe {
    waiting waits;
    http::exchange* exchange = nullptr;
    pipe_result* result = nullptr;
    std::string_view chunk;
    bool up = false;              // the request's body; else the answer's
    bool exchange_waits = false;  // its read or write is pending
    bool ending = false;          // over once the exchange's operation is; with these:
    base::status source = base::ok, sink = base::ok;
  };

  // call.cpp
  base::status put(std::string_view bytes);
  void put_end();
  void complete_body();
  std::size_t queued() noexcept;
  bool sink_gone() noexcept;  // the server wants no more of the body
  base::status next_piece(std::size_t max, std::string_view* piece);
  base::status fill();
  void break_off(base::status);
  void release_connection();
  void later() { resume_.start(std::chrono::milliseconds(0)); }

  // call_events.cpp
  void on_bytes() noexcept override;
  void on_drained() noexcept override;
  void on_lost(base::status) noexcept override;
  void on_connected(std::unique_ptr<socket_stream>) noexcept override;
  void on_unreachable() noexcept override;
  void attach(std::unique_ptr<connection>);
  void dial();
  void receive_head();
  void head_ended();
  void take_head();
  void on_resume();
  void on_timer();
  // Each tells one who waits, at most, and is the last thing its caller does: whoever is told may destroy the call.
  void settle();
  void settle_read();
  void arm();
  std::optional<loop::clock::time_point> next_deadline() noexcept;

  // call_pipe.cpp
  base::status begin_pipe(http::exchange&, bool up, pipe_result*, base::completion, void* user);
  void pump();
  bool pump_up();
  bool pump_down();
  bool take_chunk();
  void settle_pipe();  // as settle
  void end_pipe(base::status source, base::status sink);
  static void on_exchange(void* self, base::status) noexcept;
  static void on_gone(void* self, base::status) noexcept;

  const std::shared_ptr<client_state> client_;
  const std::chrono::milliseconds connect_, response_, idle_;
  const std::int64_t promised_;  // -1: chunks
  const bool safe_, head_request_;
  origin* origin_ = nullptr;
  std::string host_;
  std::uint16_t port_ = 0;

  std::unique_ptr<connector> connector_;
  std::unique_ptr<connection> connection_;
  http::buffer request_;  // the head, and what was written before there was a connection
  std::int64_t written_ = 0;

  answer_head answer_;
  const answer_head** head_out_ = nullptr;
  std::string_view* read_out_ = nullptr;
  std::size_t read_max_ = 0, body_at_ = 0;  // body_at_: in connection_->head, where the undecoded bytes begin
  waiting writing_, heading_, reading_;
  pipe pipe_;

  loop::timer timer_, resume_;
  loop::clock::time_point total_at_, armed_{};
  loop::clock::time_point asked_at_;     // when the request was handed on, or its body became complete
  loop::clock::time_point progress_at_;  // when a byte of the answer's body came, or somebody began to wait for one
  base::status fault_ = base::ok;
  std::uint64_t turn_ = 0;
  unsigned moves_ = 0;       // reads from the socket, or chunks of a pipe, in this turn
  bool body_done_ = false;   // all of the request's body was queued
  bool head_done_ = false;   // the answer's head is here
  bool head_taken_ = false;  // and was asked for
  bool early_ = false;       // it came before body_done_
  bool answered_ = false;    // a byte of the answer was seen
  bool filled_ = false;      // the last read filled the room there was
  bool retried_ = false, cancelled_ = false, stopped_ = false;
};

}  // namespace portico::upstream
