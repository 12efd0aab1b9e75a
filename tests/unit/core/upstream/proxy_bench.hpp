// A proxy of the smallest kind, over a real server and a real client, and somebody who visits it.
#pragma once
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <thread>

#include "bench.hpp"
#include "core/http/exchange.hpp"
#include "core/http/server.hpp"
#include "scripted_server.hpp"

namespace proxy_bench {

using namespace bench;
using scripted::peer;
using scripted::server;

// One request on its way through.
struct passage {
  http::exchange* exchange = nullptr;
  std::unique_ptr<upstream::call> call;
  const upstream::answer_head* head = nullptr;
  upstream::pipe_result up, down;
  base::status up_status = 99, head_status = 99, down_status = 99;
  bool over = false;
  bool hold = false;  // the answer's pipe is not begun by itself

  static passage& of(void* self) { return *static_cast<passage*>(self); }
  void start(upstream::client& client, const std::string& url, std::int64_t length, std::chrono::milliseconds total) {
    upstream::call_options o;
    o.method = exchange->head().method;
    o.url = url;
    o.content_length = length;
    o.total = total;
    REQUIRE(client.open(o, &call) == base::ok);
    const base::status s = call->pipe_request(*exchange, &up, &piped_up, this);
    if (s != base::ok) piped_up(this, s == base::ready ? base::ok : s);
  }
  static void piped_up(void* self, base::status s) {
    passage& p = of(self);
    p.up_status = s;
    if (s != base::ok && !(p.up.source == base::ok && p.up.sink == base::closed)) return p.finish(502);
    const base::status h = p.call->head(&p.head, &got_head, self);
    if (h != base::ok) got_head(self, h == base::ready ? base::ok : h);
  }
  static void got_head(void* self, base::status s) {
    passage& p = of(self);
    p.head_status = s;
    if (s != base::ok) return p.finish(s == base::timeout ? 504 : 502);
    p.exchange->begin(p.head->status, {}, p.head->content_length);
    if (!p.hold) p.pipe_down();
  }
  void pipe_down() {
    const base::status s = call->pipe_response(*exchange, &down, &piped_down, this);
    if (s != base::ok) piped_down(this, s == base::ready ? base::ok : s);
  }
  static void piped_down(void* self, base::status s) {
    passage& p = of(self);
    p.down_status = s;
    p.finish(0);
  }
  void finish(int status) {
    call.reset();
    if (status)
      http::answer_error(*exchange, status, "upstream", "no");
    else if (down_status == base::ok)
      exchange->finish();
    else
      exchange->abort();
    over = true;
  }
};

class proxy final : public http::handler {
 public:
  explicit proxy(std::string to, bool chunked = false) : to_(std::move(to)), chunked_(chunked) {
    limits_.max_body = 1'000'000'000;
    loop::event_loop* const all[] = {&l.loop};
    front = std::make_unique<http::server>(all, limits_, *this);
    port = front->listen("127.0.0.1", 0);
    l.on([&] { front->start(); });
  }
  ~proxy() {
    l.on([&] { front->close_all(); });
    l.turn(20ms);
    front.reset();
  }
  void on_exchange(http::exchange& x) noexcept override {
    passage& p = passages.emplace_back();
    p.exchange = &x;
    p.hold = hold;
    p.start(*l.client, to_, chunked_ ? -1 : x.head().content_length, total);
  }
  loops l;
  std::unique_ptr<http::server> front;
  std::uint16_t port = 0;
  std::deque<passage> passages;
  bool hold = false;
  std::chrono::milliseconds total{0};

 private:
  http::limits limits_;
  std::string to_;
  bool chunked_;
};

// The proxy's client, in a thread of its own.
class visitor {
 public:
  visitor(std::uint16_t port, std::function<void(peer&)> does)
      : thread_([port, does = std::move(does), this] {
          const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
          sockaddr_in to{};
          to.sin_family = AF_INET;
          to.sin_port = htons(port);
          to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
            peer p(fd, 0);
            does(p);
          }
          over = true;
        }) {}
  ~visitor() { thread_.join(); }
  std::atomic<bool> over{false};

 private:
  std::thread thread_;
};

inline std::string body_of(const std::string& response) { return response.substr(response.find("\r\n\r\n") + 4); }

// An upstream that answers with the request's body, whatever its framing.
inline void echo_body(peer& p) {
  while (true) {
    const std::string head = p.read_head();
    if (head.empty()) return;
    const std::size_t at = head.find("Content-Length: ");
    if (at != std::string::npos) {
      const std::size_t size = std::stoul(head.substr(at + 16));
      p.answer(p.read_exactly(size));
    } else {
      std::string whole;
      while (head.find("chunked") != std::string::npos) {
        const std::string line = p.read_until("\r\n");
        const std::size_t size = std::stoul(line, nullptr, 16);
        whole += p.read_exactly(size);
        p.read_exactly(2);
        if (size == 0) break;
      }
      p.answer(whole);
    }
  }
}

}  // namespace proxy_bench
