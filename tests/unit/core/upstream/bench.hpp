// A loop, its client, and calls that a test can wait for.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/loop/loop.hpp"
#include "core/loop/workers.hpp"
#include "core/upstream/client.hpp"

namespace bench {

using namespace portico;
using namespace std::chrono_literals;

struct outcome {
  int calls = 0;
  base::status status = 99;
  static void done(void* self, base::status s) {
    auto& o = *static_cast<outcome*>(self);
    ++o.calls;
    o.status = s;
  }
};

// The loop turns in the thread of the test, while the test waits for something.
class loops {
 public:
  explicit loops(std::vector<upstream::settings> named = {})
      : client(std::make_unique<upstream::client>(
            loop, workers, std::make_shared<const std::vector<upstream::settings>>(std::move(named)))) {}
  ~loops() { client.reset(); }

  // Turns until it is so; false when it is not within ten seconds.
  bool until(const std::function<bool()>& so) { return turn(10s, so); }
  void turn(std::chrono::milliseconds time) {
    turn(time, [] { return false; });
  }
  // Runs fn on the loop.
  void on(std::function<void()> fn) {
    bool ran = false;
    loop.post([&] {
      fn();
      ran = true;
    });
    until([&] { return ran; });
  }

  loop::event_loop loop{0};
  loop::workers workers{2, 16};
  std::unique_ptr<upstream::client> client;

 private:
  bool turn(std::chrono::milliseconds most, const std::function<bool()>& so) {
    struct tick {
      loop::event_loop& loop;
      const std::function<bool()>& so;
      loop::clock::time_point end;
      bool was_so = false;
      loop::timer timer{loop, [](void* self) { static_cast<tick*>(self)->look(); }, this};
      void look() {
        was_so = so();
        if (was_so || loop::clock::now() >= end)
          loop.stop();
        else
          timer.start(1ms);
      }
    } t{loop, so, loop::clock::now() + most};
    t.timer.start(0ms);
    loop.run();
    return t.was_so;
  }
};

// One call as a plugin makes it: the body in pieces, the head, the answer's body to its end.
class fetch {
 public:
  explicit fetch(loops& l) : loops_(l) {}

  upstream::call_options options;
  std::vector<std::string> body;  // pieces of the request's body
  std::size_t max = 0;            // of each read

  base::status opened = 99, error = base::ok;  // error: the first that was not ok
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::int64_t length = -99;
  std::string answer;
  bool body_refused = false;  // a write gave closed
  bool over = false;
  std::unique_ptr<upstream::call> call;

  void start(std::string_view method, std::string url) {
    url_ = std::move(url);
    method_ = method;
    loops_.on([this] {
      options.method = method_;
      options.url = url_;
      opened = loops_.client->open(options, &call);
      if (opened != base::ok) return finish(opened);
      write_next();
    });
  }
  fetch& run(std::string_view method, std::string url) {
    start(method, std::move(url));
    loops_.until([this] { return over; });
    return *this;
  }
  fetch& get(std::string url) { return run("GET", std::move(url)); }
  void close() {
    loops_.on([this] { call.reset(); });
  }
  std::string header(std::string_view name) const {
    for (const auto& [n, v] : headers)
      if (n == name) return v;
    return {};
  }

 private:
  void finish(base::status s) {
    error = s;
    over = true;
    call.reset();
  }
  void write_next() {
    while (next_ < body.size()) {
      const base::status s = call->write(body[next_++], &wrote, this);
      if (s == base::ok) return;
      if (s == base::closed) {
        body_refused = true;
        return ask_head();
      }
      if (s < 0) return finish(s);
    }
    if (options.content_length < 0) call->end();
    ask_head();
  }
  static void wrote(void* self, base::status s) {
    auto& f = *static_cast<fetch*>(self);
    if (s == base::ok) return f.write_next();
    if (s != base::closed) return f.finish(s);
    f.body_refused = true;
    f.ask_head();
  }
  void ask_head() {
    const base::status s = call->head(&head_, &got_head, this);
    if (s != base::ok) got_head(this, s == base::ready ? base::ok : s);
  }
  static void got_head(void* self, base::status s) {
    auto& f = *static_cast<fetch*>(self);
    if (s < 0) return f.finish(s);
    f.status = f.head_->status;
    f.length = f.head_->content_length;
    for (const http::field& h : f.head_->headers) f.headers.emplace_back(h.name, h.value);
    f.read_next();
  }
  void read_next() {
    while (true) {
      const base::status s = call->read(max, &chunk_, &got_chunk, this);
      if (s == base::ok) return;
      if (s < 0) return finish(s);
      if (chunk_.empty()) return finish(base::ok);
      answer += chunk_;
    }
  }
  static void got_chunk(void* self, base::status s) {
    auto& f = *static_cast<fetch*>(self);
    if (s < 0 || f.chunk_.empty()) return f.finish(s);
    f.answer += f.chunk_;
    f.read_next();
  }

  loops& loops_;
  std::string url_, method_;
  std::size_t next_ = 0;
  const upstream::answer_head* head_ = nullptr;
  std::string_view chunk_;
};

}  // namespace bench
