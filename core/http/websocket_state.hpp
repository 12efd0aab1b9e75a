// core/http/websocket_state.hpp - the life of one websocket, apart from whoever holds it.  Private to core/http.
//
// websocket_session.cpp: what the owner asks.  websocket_io.cpp: what the stream and the clock tell, and frames both
// ways.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/system.hpp"
#include "core/http/byte_stream.hpp"
#include "core/http/websocket.hpp"
#include "core/http/websocket_frame.hpp"
#include "core/loop/loop.hpp"

namespace portico::http {

// Mask keys a peer's scripts cannot foresee, without asking the system for each.
class mask_key_source {
 public:
  mask_key next() {
    if (at_ == bytes_.size()) {
      base::random_bytes(bytes_);
      at_ = 0;
    }
    mask_key key;
    std::memcpy(key.data(), bytes_.data() + at_, key.size());
    at_ += key.size();
    return key;
  }

 private:
  std::array<unsigned char, 128> bytes_;
  std::size_t at_ = bytes_.size();
};

// Somebody waits for an operation of a websocket.
struct websocket_waiter {
  base::completion done = nullptr;
  void* user = nullptr;
  bool cancelled = false;
  explicit operator bool() const noexcept { return done != nullptr; }
  void complete(base::status s) {
    const websocket_waiter w = std::exchange(*this, websocket_waiter());
    w.done(w.user, s);
  }
};

// Lives until it is given back and its stream is gone, whichever is later.
class websocket_state final : byte_stream::observer {
 public:
  websocket_state(std::unique_ptr<byte_stream>, websocket_role, const websocket_options&, std::string_view received);

  base::status receive(websocket_message* out, base::completion done, void* user);
  base::status send(bool text, std::string_view bytes, base::completion done, void* user);
  base::status shutdown(int code, std::string_view reason);
  void cancel();
  void stop();
  bool busy() const noexcept { return receiving_ || sending_; }
  void give_back(int code, std::string_view reason);

 private:
  // Keeps it alive while it is on the stack.
  class visit {
   public:
    explicit visit(websocket_state& s) noexcept : state_(s) { ++s.visits_; }
    ~visit() {
      if (--state_.visits_ == 0 && !state_.held_ && !state_.stream_) delete &state_;
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    websocket_state& state_;
  };
  friend class visit;
  ~websocket_state() = default;

  void on_bytes() noexcept override;
  void on_drained() noexcept override;
  void on_lost(base::status) noexcept override;
  void on_timer();
  void on_resume();

  void advance();
  void decode(std::string_view& input);
  void on_close_frame();
  void break_off(int code, std::string_view why);
  void settle();
  void deliver();
  base::status ended();  // what receive says when nothing more can come; ok: something can
  base::status cannot_send() const noexcept;
  void begin_close(int code, std::string_view reason);
  void queue(opcode, std::string_view payload);
  void queue_pong(std::string_view payload);
  void end();
  void later() { resume_.start(std::chrono::milliseconds(0)); }

  std::unique_ptr<byte_stream> stream_;  // null: the connection has ended
  loop::event_loop& home_;
  const websocket_role role_;
  const std::chrono::milliseconds ping_, close_wait_;
  const std::size_t max_message_, high_water_;
  websocket_decoder decoder_;
  mask_key_source keys_;
  loop::timer timer_, resume_;
  loop::clock::time_point heard_;
  std::vector<char> input_, current_;  // received and not decoded; the message the caller looks at
  std::size_t input_at_ = 0;
  websocket_message* out_ = nullptr;
  websocket_waiter receiving_, sending_;
  base::status fault_ = base::ok;
  int close_code_ = 1006;
  std::uint64_t turn_ = 0;
  unsigned reads_ = 0, pings_ = 0, visits_ = 0;
  std::array<char, 125> pong_;
  std::size_t pong_size_ = 0;
  bool held_ = true, stopped_ = false;
  bool ahead_ = false;      // the decoder holds a whole message
  bool listening_ = false;  // the stream will tell when there is more
  bool deaf_ = false;       // what still comes is of no interest: after a close frame or a breach
  bool close_sent_ = false, close_got_ = false, shut_down_ = false, pong_owed_ = false;
};

}  // namespace portico::http
