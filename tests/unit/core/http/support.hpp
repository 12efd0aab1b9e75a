// What the tests of core/http share: a server on real loops, and a plain blocking client.
#pragma once
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/http/exchange.hpp"
#include "core/http/server.hpp"
#include "core/loop/loop.hpp"

namespace testing_http {

using namespace portico;
using namespace std::chrono_literals;

// The loops turn on threads of their own from the constructor on.
class running_server {
 public:
  using answer_fn = std::function<void(http::exchange&)>;
  explicit running_server(answer_fn, const http::limits& = {}, std::size_t loops = 1);
  ~running_server();

  std::uint16_t port() const { return port_; }
  http::server& server() { return *server_; }
  loop::event_loop& loop(std::size_t i = 0) { return *loops_[i]; }
  // Runs f on loop i and waits for it.
  void on_loop(std::size_t i, std::function<void()> f);
  void stop();

  // What on_finished was told, by whichever loop.
  struct finished {
    int status;
    std::uint64_t bytes;
  };
  std::vector<finished> told();

 private:
  struct answers;
  std::unique_ptr<answers> handler_;
  std::vector<std::unique_ptr<loop::event_loop>> loops_;
  std::unique_ptr<http::server> server_;
  std::vector<std::thread> threads_;
  std::uint16_t port_ = 0;
};

// Every wait ends after a few seconds at most.
class client {
 public:
  explicit client(std::uint16_t port, int receive_buffer = 0);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  client& send(std::string_view);           // all of it; stops quietly when the server has closed
  std::size_t send_some(std::string_view);  // what the system takes without waiting
  void half_close();
  void close();
  void reset();
  // Everything until the text has come, or the server closes, or the time is over.
  std::string until(std::string_view text, std::chrono::milliseconds = 5s);
  std::string to_end(std::chrono::milliseconds = 5s);
  std::string exactly(std::size_t bytes, std::chrono::milliseconds = 5s);
  std::string some(std::chrono::milliseconds = 5s);  // what has come, at least a byte unless the server closes
  void put_back(std::string_view);                   // to be read again, before the rest
  bool closed(std::chrono::milliseconds = 5s);       // the server closes, or has; what still comes is dropped
  bool was_reset() const { return reset_; }          // what ended reading was an error
  int fd() const { return fd_; }

 private:
  std::string read(const std::function<bool(const std::string&)>& enough, std::chrono::milliseconds);
  int fd_ = -1;
  bool reset_ = false;
  std::string ahead_;
};

// One response, taken apart.  Fails the test when it is malformed.
struct response {
  int status = 0;
  std::string head, body;
  std::string header(std::string_view lower_case_name) const;
};
// The next response on the connection; a body by Content-Length or chunks.
response read_response(client&, bool head_request = false);

std::string request(std::string_view method, std::string_view target, std::string_view more_headers = "");

// CHECK for threads other than the test's own, where Catch may not be called; told when the server ends.
#define EXPECT_HERE(...) ::testing_http::expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
void expect(bool holds, const char* text, const char* file, int line);

// Waits until it holds, at most five seconds.
bool eventually(const std::function<bool()>&);

}  // namespace testing_http
