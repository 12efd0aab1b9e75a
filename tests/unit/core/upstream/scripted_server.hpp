// A TCP server on loopback that does what a test says, one thread per connection.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace scripted {

// One accepted connection.  Reads give up after five seconds.
class peer {
 public:
  peer(int fd, int index) : fd_(fd), index_(index) {
    timeval limit{5, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  ~peer() { close(); }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  int index() const { return index_; }  // of the connection, from 0

  // Everything up to and with mark; what came before the end if it does not come.
  std::string read_until(const std::string& mark) {
    while (buffer_.find(mark) == std::string::npos)
      if (!more()) return std::move(buffer_);
    const std::size_t end = buffer_.find(mark) + mark.size();
    std::string all = buffer_.substr(0, end);
    buffer_.erase(0, end);
    return all;
  }
  std::string read_head() { return read_until("\r\n\r\n"); }
  std::string read_exactly(std::size_t size) {
    while (buffer_.size() < size)
      if (!more()) break;
    std::string all = buffer_.substr(0, size);
    buffer_.erase(0, all.size());
    return all;
  }
  // Until the other end closes; how many bytes came.
  std::size_t drain() {
    std::size_t all = buffer_.size();
    buffer_.clear();
    while (more()) all += buffer_.size(), buffer_.clear();
    return all;
  }
  bool write(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  void answer(const std::string& body, const std::string& more_headers = "") {
    write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more_headers + "\r\n" + body);
  }
  void small_receive_buffer() {
    const int size = 4096;
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  }
  void shut() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  bool more() {
    char piece[64 * 1024];
    const ssize_t n = ::recv(fd_, piece, sizeof piece, 0);
    if (n > 0) buffer_.append(piece, static_cast<std::size_t>(n));
    return n > 0;
  }
  int fd_;
  const int index_;
  std::string buffer_;
};

class server {
 public:
  using script = std::function<void(peer&)>;

  explicit server(script s, int backlog = 64, bool v6 = false) : script_(std::move(s)) {
    sockaddr_storage where{};
    socklen_t size = 0;
    if (v6) {
      auto& a = reinterpret_cast<sockaddr_in6&>(where);
      a.sin6_family = AF_INET6;
      a.sin6_addr = in6addr_loopback;
      size = sizeof a;
    } else {
      auto& a = reinterpret_cast<sockaddr_in&>(where);
      a.sin_family = AF_INET;
      a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      size = sizeof a;
    }
    fd_ = ::socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd_ < 0 || ::bind(fd_, reinterpret_cast<sockaddr*>(&where), size) != 0 || ::listen(fd_, backlog) != 0)
      throw std::runtime_error("no listening socket");
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&where), &size);
    port_ =
        ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(where).sin6_port : reinterpret_cast<sockaddr_in&>(where).sin_port);
    if (script_) acceptor_ = std::thread([this] { accept_all(); });
  }
  ~server() { stop(); }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  void stop() {
    if (fd_ < 0) return;
    ::shutdown(fd_, SHUT_RDWR);
    if (acceptor_.joinable()) acceptor_.join();
    ::close(fd_);
    fd_ = -1;
    for (std::thread& t : threads_) t.join();
  }
  std::uint16_t port() const { return port_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url(const std::string& path = "/") const { return "http://" + host() + path; }
  int connections() const { return accepted_; }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const int index = accepted_++;
      threads_.emplace_back([this, fd, index] {
        peer p(fd, index);
        script_(p);
      });
    }
  }
  script script_;
  int fd_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_{0};
  std::thread acceptor_;
  std::vector<std::thread> threads_;
};

}  // namespace scripted
