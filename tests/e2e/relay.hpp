// tests/e2e/relay.hpp - a TCP relay between portico and the stand-in, for misbehaviour below HTTP.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/StreamSocket.h>

namespace e2e {

class relay {
 public:
  enum class deed {
    pass,       // to the stand-in and back
    hang_up,    // reads the whole request, then closes without a byte
    garbage,    // answers with bytes that are not HTTP
    half_head,  // answers with half a head, then closes
    silence,    // reads, and never answers
    deaf,       // a WebSocket handshake, then silence: no message, no pong, no close
    reset,      // a WebSocket that is reset after its first message
  };
  // Decides, for each connection, by the head of its first request.  Runs on the connection's thread.
  using judge = std::function<deed(const std::string& head)>;

  relay(std::uint16_t upstream, judge);
  ~relay();
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void behave(judge);
  int sockets_opened() const noexcept { return sockets_.load(); }  // requests for /ws so far

 private:
  void accept_all();
  void serve(Poco::Net::StreamSocket&);
  void pump(Poco::Net::StreamSocket& client, const std::string& begun, bool reset_after_message);
  bool wait_readable(const Poco::Net::StreamSocket&);

  const std::uint16_t upstream_;
  std::mutex lock_;
  judge judge_;
  std::atomic<bool> over_{false};
  std::atomic<int> sockets_{0};
  Poco::Net::ServerSocket listener_;
  std::uint16_t port_;
  // The socket is its thread's, until that has ended: POCO counts the owners of a socket where ThreadSanitizer cannot
  // see it.
  struct connection {
    Poco::Net::StreamSocket client;
    std::thread thread;
  };
  std::list<connection> connections_;  // of the accepting thread alone, until it has ended
  std::thread accepting_;
};

// A port that nothing listens on.
std::uint16_t dead_port();

}  // namespace e2e
