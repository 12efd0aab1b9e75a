// A part of an open file as the body of an answer.
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>

#include "support.hpp"

using namespace testing_http;

namespace {

// An open file without a name, in which no two stretches of 4 KiB are alike.
class file {
 public:
  explicit file(std::size_t size) : stream_(std::tmpfile()) {
    REQUIRE(stream_);
    for (std::uint32_t i = 0; text_.size() < size; ++i) text_ += std::to_string(i) + ' ';
    text_.resize(size);
    REQUIRE(std::fwrite(text_.data(), 1, size, stream_) == size);
    REQUIRE(std::fflush(stream_) == 0);
  }
  ~file() { std::fclose(stream_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  std::intptr_t number() const { return fileno(stream_); }
  const std::string& text() const { return text_; }
  void cut(off_t size) { REQUIRE(::ftruncate(fileno(stream_), size) == 0); }

 private:
  std::FILE* stream_;
  std::string text_;
};

// Sends parts of a file one after another, then ends the answer.
struct sender {
  http::exchange* e = nullptr;
  std::intptr_t number = -1;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts, left;
  std::atomic<int> result{1000};
  void start(http::exchange& x, std::int64_t length) {
    e = &x;
    left = parts;
    e->begin(200, {}, length);
    next();
  }
  void next() {
    while (!left.empty()) {
      const auto [offset, size] = left.front();
      left.erase(left.begin());
      const base::status s = e->send_file(number, offset, size, done, this);
      if (s == base::ok) return;
      if (s != base::ready) return end(s);
    }
    end(base::ok);
  }
  static void done(void* self, base::status s) {
    auto* me = static_cast<sender*>(self);
    s == base::ok ? me->next() : me->end(s);
  }
  void end(base::status s) {
    e->finish();
    result = s;
  }
};

}  // namespace

TEST_CASE("send_file: parts of a file are sent as they are, with a length and in chunks") {
  const file f(3'000'000);
  for (const bool chunks : {false, true}) {
    sender from;
    from.number = f.number();
    from.parts = {{1'000'000, 2'000'000}, {5, 0}, {0, 10}};
    running_server s([&](http::exchange& e) { from.start(e, chunks ? -1 : 2'000'010); });
    client c(s.port());
    c.send(request("GET", "/"));
    const response r = read_response(c);
    CHECK((r.body == f.text().substr(1'000'000) + f.text().substr(0, 10)));
    CHECK(r.header(chunks ? "transfer-encoding" : "content-length") == (chunks ? "chunked" : "2000010"));
    CHECK(eventually([&] { return from.result == base::ok; }));
    c.send(request("GET", "/"));  // the connection is in step
    CHECK(read_response(c).body.size() == 2'000'010);
    CHECK(eventually([&] { return s.told().size() == 2; }));
    CHECK(s.told()[0].bytes == 2'000'010);
  }
}

TEST_CASE("send_file: HEAD sends nothing of it") {
  const file f(100);
  sender from;
  running_server s([&](http::exchange& e) {
    from.number = f.number();
    from.parts = {{0, 100}};
    from.start(e, 100);
  });
  client c(s.port());
  c.send(request("HEAD", "/") + request("GET", "/"));
  CHECK(read_response(c, true).header("content-length") == "100");
  CHECK(read_response(c).body == f.text());
}

TEST_CASE("send_file: a client that does not read stops it, and gets all of it in the end") {
  const file f(20'000'000);
  sender from;
  from.number = f.number();
  from.parts = {{0, 20'000'000}};
  running_server s([&](http::exchange& e) { from.start(e, 20'000'000); });
  client c(s.port(), 4096);
  c.send(request("GET", "/"));
  std::this_thread::sleep_for(100ms);
  CHECK(from.result == 1000);
  CHECK((read_response(c).body == f.text()));
  CHECK(eventually([&] { return from.result == base::ok; }));
}

TEST_CASE("send_file: a file that proves too short closes the connection, and the next one is served") {
  file f(1000);
  f.cut(400);
  sender from;
  running_server s([&](http::exchange& e) {
    from.number = f.number();
    from.parts = {{0, 1000}};
    from.start(e, 1000);
  });
  for (int i = 0; i < 2; ++i) {
    client c(s.port());
    c.send(request("GET", "/"));
    const std::string all = c.to_end();
    CHECK(all.size() - all.find("\r\n\r\n") - 4 == 400);
    CHECK(eventually([&] { return from.result == base::closed; }));
  }
}

TEST_CASE("send_file: what is cancelled in the middle ends in a reset, and waits for nothing") {
  const file f(20'000'000);
  for (const std::int64_t length : {std::int64_t(20'000'000), std::int64_t(-1)}) {
    sender from;
    from.number = f.number();
    from.parts = {{0, 20'000'000}};
    std::atomic<http::exchange*> held{nullptr};
    running_server s([&](http::exchange& e) {
      from.start(e, length);
      held = &e;
    });
    client c(s.port(), 4096);
    c.send(request("GET", "/"));
    REQUIRE(eventually([&] { return held != nullptr; }));
    s.on_loop(0, [&] { held.load()->cancel(); });
    CHECK(eventually([&] { return from.result == base::cancelled; }));
    c.to_end();
    CHECK(c.was_reset());
  }
}

TEST_CASE("send_file: what cannot be is refused and changes nothing") {
  const file f(100);
  std::vector<base::status> got;
  running_server s([&](http::exchange& e) {
    static const auto never = [](void*, base::status) {};
    got.push_back(e.send_file(f.number(), 0, 10, never, nullptr));  // not begun
    e.begin(200, {}, 10);
    got.push_back(e.send_file(f.number(), 0, 11, never, nullptr));  // more than promised
    got.push_back(e.send_file(f.number(), 0, 10, nullptr, nullptr));
    e.write("0123456789", nullptr, nullptr);
    e.finish();
  });
  client c(s.port());
  c.send(request("GET", "/"));
  CHECK(read_response(c).body == "0123456789");
  CHECK(got == std::vector<base::status>{base::state, base::argument, base::argument});
}
