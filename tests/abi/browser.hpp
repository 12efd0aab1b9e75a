// tests/abi/browser.hpp - a blocking client of one connection, as wire-true as the tests need it.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rig {

struct answer {
  int status = 0;                              // 0: the connection ended before a head
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool whole = false;  // the body ended as the head had promised
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

class browser {
 public:
  explicit browser(std::uint16_t port);
  ~browser();
  browser(const browser&) = delete;
  browser& operator=(const browser&) = delete;

  void send(std::string_view bytes);
  // A request with a body (none if empty) or, with chunked, the head alone.
  void request(std::string_view method, std::string_view target, std::string_view body = {},
               std::string_view headers = {});
  void request_chunked(std::string_view method, std::string_view target, std::string_view headers = {});
  void chunk(std::string_view bytes);  // empty: the end
  answer read_answer();
  // What comes until the text so far contains that part; throws after 20 s.
  std::string read_until(std::string_view part);
  std::string read_some();  // at least a byte; empty: the end
  void close();             // in order
  void reset();             // RST

  answer get(std::string_view target, std::string_view headers = {});
  answer post(std::string_view target, std::string_view body, std::string_view headers = {});

  // A websocket: the handshake, one masked text frame, one frame of the server ("close CODE" for a close).
  int upgrade(std::string_view target);
  void send_text(std::string_view);
  void send_close(int code);
  std::string read_frame();

 private:
  std::string take(std::size_t n);
  std::string take_line();
  struct state;
  std::unique_ptr<state> state_;
};

// One request on a connection of its own.
answer get(std::uint16_t port, std::string_view target, std::string_view headers = {});
answer post(std::uint16_t port, std::string_view target, std::string_view body, std::string_view headers = {});

}  // namespace rig
