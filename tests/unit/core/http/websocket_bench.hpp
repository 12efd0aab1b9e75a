// A websocket on a stream that a test writes and reads, and a loop that turns while the test waits.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/http/byte_stream.hpp"
#include "core/http/websocket.hpp"
#include "core/http/websocket_frame.hpp"
#include "core/http/websocket_session.hpp"
#include "core/loop/loop.hpp"

namespace websocket_bench {

using namespace portico;
using namespace portico::http;
using namespace std::chrono_literals;

// What the test sees and does at the other end of a stream.
struct wire {
  std::string in, sent;   // not yet received by the websocket; all it sent
  std::size_t stuck = 0;  // of sent: not yet taken by "the system"
  bool takes = true, ended = false, shut = false, destroyed = false;
  byte_stream::observer* observer = nullptr;
  std::size_t low_water = 0;

  void arrive(std::string_view bytes) {
    in += bytes;
    observer->on_bytes();
  }
  void end() {
    ended = true;
    observer->on_bytes();
  }
  void take_all() {
    const bool above = stuck > low_water;
    stuck = 0;
    if (above) observer->on_drained();
  }
};

class fake_stream final : public byte_stream {
 public:
  fake_stream(loop::event_loop& l, wire& w) : loop_(l), wire_(w) {}
  ~fake_stream() override { wire_.destroyed = true; }
  loop::event_loop& home() const noexcept override { return loop_; }
  void observe(observer& o, std::size_t low) noexcept override { wire_.observer = &o, wire_.low_water = low; }
  base::status receive(char* to, std::size_t size, std::size_t* got) noexcept override {
    *got = wire_.in.copy(to, size);
    wire_.in.erase(0, *got);
    return *got ? base::ready : wire_.ended ? base::closed : base::ok;
  }
  base::status send(std::string_view bytes) override {
    wire_.sent += bytes;
    if (!wire_.takes) wire_.stuck += bytes.size();
    return base::ok;
  }
  std::size_t queued() const noexcept override { return wire_.stuck; }
  void shut() noexcept override { wire_.shut = true; }

 private:
  loop::event_loop& loop_;
  wire& wire_;
};

struct outcome {
  int calls = 0;
  base::status status = 99;
  static void done(void* self, base::status s) {
    auto& o = *static_cast<outcome*>(self);
    ++o.calls;
    o.status = s;
  }
};

struct bench {
  explicit bench(websocket_role role = websocket_role::server, websocket_options o = {}) : role_(role) {
    ws = make_websocket(std::make_unique<fake_stream>(loop, far), role, o);
    turn();
  }
  ~bench() {
    ws.reset();
    if (far.observer && !far.destroyed) far.observer->on_lost(base::closed);
  }
  // Lets the loop run for a while, or until something is so.
  void turn(std::chrono::milliseconds most = 5ms, std::function<bool()> until = {}) {
    struct tick {
      loop::event_loop& loop;
      std::function<bool()>& until;
      loop::clock::time_point end;
      loop::timer timer{loop, [](void* self) { static_cast<tick*>(self)->look(); }, this};
      void look() {
        if (loop::clock::now() >= end || (until && until()))
          loop.stop();
        else
          timer.start(1ms);
      }
    } t{loop, until, loop::clock::now() + most};
    t.timer.start(0ms);
    loop.run();
  }
  std::string frame(opcode code, std::string payload, bool final = true) const {
    constexpr mask_key key{1, 2, 3, 4};
    const bool masked = role_ == websocket_role::server;
    std::string out(frame_head(code, final, payload.size(), masked ? &key : nullptr).bytes());
    if (masked) apply_mask(payload.data(), payload.size(), key, 0);
    return out + payload;
  }
  // The frames this side has sent, one line each.
  std::vector<std::string> sent() const {
    websocket_decoder d(role_ == websocket_role::server ? websocket_role::client : websocket_role::server, 1 << 30);
    std::vector<std::string> all;
    std::string_view rest = far.sent;
    for (auto e = d.feed(rest); e != websocket_decoder::event::more; e = d.feed(rest)) {
      if (e == websocket_decoder::event::message) {
        std::vector<char> m;
        d.take(m);
        all.push_back((d.text() ? "text " : "binary ") + std::string(m.begin(), m.end()));
      } else if (e == websocket_decoder::event::close) {
        all.push_back("close " + std::to_string(d.close_code()) + " " + std::string(d.payload()));
        break;
      } else {
        all.push_back((e == websocket_decoder::event::ping ? "ping " : "pong ") + std::string(d.payload()));
      }
    }
    return all;
  }
  base::status receive() { return ws->receive(&message, &outcome::done, &received); }

  loop::event_loop loop{0};
  wire far;
  const websocket_role role_;
  std::unique_ptr<websocket> ws;
  websocket_message message;
  outcome received, was_sent;
};

using lines = std::vector<std::string>;

inline std::string code(int c) { return {static_cast<char>(c >> 8), static_cast<char>(c & 0xff)}; }

}  // namespace websocket_bench
