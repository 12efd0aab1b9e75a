#include "support.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <future>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/http/parser.hpp"

namespace testing_http {

namespace {
std::mutex broken_lock;
std::vector<std::string> broken;
}  // namespace

void expect(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  const std::lock_guard hold(broken_lock);
  broken.push_back(std::string(file) + ":" + std::to_string(line) + ": " + text);
}

struct running_server::answers final : http::handler {
  answer_fn call;
  std::mutex lock;
  std::vector<finished> told;
  void on_exchange(http::exchange& e) noexcept override { call(e); }
  void on_finished(const http::exchange& e, int status, std::uint64_t bytes, std::int64_t us) noexcept override {
    const std::lock_guard hold(lock);
    if (!e.head().method.empty() && us >= 0) told.push_back({status, bytes});
  }
};

running_server::running_server(answer_fn f, const http::limits& l, std::size_t loops)
    : handler_(std::make_unique<answers>()) {
  handler_->call = std::move(f);
  std::vector<loop::event_loop*> all;
  for (std::size_t i = 0; i < loops; ++i) {
    loops_.push_back(std::make_unique<loop::event_loop>(static_cast<std::uint32_t>(i)));
    all.push_back(loops_.back().get());
  }
  server_ = std::make_unique<http::server>(all, l, *handler_);
  port_ = server_->listen("127.0.0.1", 0);
  server_->start();
  for (auto& one : loops_) threads_.emplace_back([&one = *one] { one.run(); });
}

void running_server::stop() {
  for (auto& one : loops_) one->stop();
  for (auto& t : threads_) t.join();
  threads_.clear();
}

running_server::~running_server() {
  stop();
  server_.reset();
  const std::lock_guard hold(broken_lock);
  for (const std::string& one : std::exchange(broken, {})) FAIL_CHECK(one);
}

void running_server::on_loop(std::size_t i, std::function<void()> f) {
  std::promise<void> done;
  loops_[i]->post([&] {
    f();
    done.set_value();
  });
  done.get_future().get();
}

std::vector<running_server::finished> running_server::told() {
  const std::lock_guard hold(handler_->lock);
  return handler_->told;
}

client::client(std::uint16_t port, int receive_buffer) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect");
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

client::~client() { close(); }

void client::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void client::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void client::half_close() { ::shutdown(fd_, SHUT_WR); }

client& client::send(std::string_view bytes) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!bytes.empty() && std::chrono::steady_clock::now() < until) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd wait{fd_, POLLOUT, 0};
      ::poll(&wait, 1, 100);
    } else {
      break;
    }
  }
  return *this;
}

std::size_t client::send_some(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  return sent;
}

std::string client::read(const std::function<bool(const std::string&)>& enough, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::string all = std::exchange(ahead_, {});
  while (!enough(all)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 65536> piece;
    const ssize_t n = ::recv(fd_, piece.data(), piece.size(), 0);
    if (n <= 0) {
      reset_ = n < 0;
      break;
    }
    all.append(piece.data(), static_cast<std::size_t>(n));
  }
  return all;
}

std::string client::until(std::string_view text, std::chrono::milliseconds time) {
  std::string all = read([&](const std::string& s) { return s.find(text) != std::string::npos; }, time);
  if (const std::size_t at = all.find(text); at != std::string::npos) {
    ahead_ = all.substr(at + text.size());
    all.resize(at + text.size());
  }
  return all;
}

std::string client::to_end(std::chrono::milliseconds time) {
  return read([](const std::string&) { return false; }, time);
}

std::string client::exactly(std::size_t bytes, std::chrono::milliseconds time) {
  std::string all = read([&](const std::string& s) { return s.size() >= bytes; }, time);
  if (all.size() > bytes) {
    ahead_ = all.substr(bytes);
    all.resize(bytes);
  }
  return all;
}

std::string client::some(std::chrono::milliseconds time) {
  return read([](const std::string& s) { return !s.empty(); }, time);
}

void client::put_back(std::string_view bytes) { ahead_.insert(0, bytes); }

bool client::closed(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  to_end(time);
  return std::chrono::steady_clock::now() < end;
}

std::string response::header(std::string_view name) const {
  std::string copy = head;
  const http::head_limits limits;
  http::response_parser parser(limits);
  if (parser.parse(copy.data(), copy.size()) != http::parsed::complete) return "malformed";
  for (const http::field& f : parser.headers())
    if (f.name == name) return std::string(f.value);
  return {};
}

response read_response(client& c, bool head_request) {
  response r;
  r.head = c.until("\r\n\r\n");
  INFO("received: " << r.head);
  const http::head_limits limits;
  http::response_parser parser(limits);
  parser.expect(head_request ? "HEAD" : "GET");
  std::string copy = r.head;
  REQUIRE(parser.parse(copy.data(), copy.size()) == http::parsed::complete);
  r.status = parser.status();
  switch (parser.body()) {
    case http::framing::none:
      break;
    case http::framing::length:
      r.body = c.exactly(static_cast<std::size_t>(parser.content_length()));
      break;
    case http::framing::until_close:
      r.body = c.to_end();
      break;
    case http::framing::chunked: {
      http::body_decoder decoder(limits);
      decoder.start(http::framing::chunked);
      while (!decoder.complete()) {
        std::string some = c.some();
        REQUIRE(!some.empty());
        std::span<char> input(some);
        while (!input.empty() && !decoder.complete() && !decoder.refused()) r.body += decoder.next(input, SIZE_MAX);
        REQUIRE(!decoder.refused());
        c.put_back({input.data(), input.size()});
      }
    }
  }
  return r;
}

std::string request(std::string_view method, std::string_view target, std::string_view more) {
  std::string all;
  all.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n").append(more).append("\r\n");
  return all;
}

bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

}  // namespace testing_http
