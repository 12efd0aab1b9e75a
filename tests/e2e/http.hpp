// tests/e2e/http.hpp - HTTP as a client sees it, and bytes on a socket where HTTP would be too polite.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace e2e {

using fields = std::vector<std::pair<std::string, std::string>>;

struct answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones joined with ", "
  std::string body;
  std::string header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? "" : it->second;
  }
  bool has(const std::string& name) const { return headers.count(name) != 0; }
};

// A TCP connection to 127.0.0.1.  Everything waits at most as long as it says, and throws std::runtime_error after
// that.
class raw_socket {
 public:
  explicit raw_socket(std::uint16_t port, int receive_buffer = 0);
  ~raw_socket();
  raw_socket(raw_socket&&) noexcept;
  raw_socket& operator=(raw_socket&&) = delete;

  void send(std::string_view bytes);
  // What has come by the time n bytes are there, the other end has closed, or the time has passed.
  std::string receive(std::size_t n, std::chrono::milliseconds within = std::chrono::seconds(10));
  // Everything up to the end of the connection; throws when the end does not come in time.
  std::string receive_all(std::chrono::milliseconds within = std::chrono::seconds(10));
  // The next whole answer on the connection.  method: HEAD has no body.
  answer receive_answer(std::string_view method = "GET", std::chrono::milliseconds within = std::chrono::seconds(20));
  // Whether the other end closes, without a byte, within the time.
  bool closes(std::chrono::milliseconds within);
  void reset();  // an RST instead of a FIN

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// One request on a connection of its own.  The Host header is the server's address unless `more` names one.
answer request(std::uint16_t port, const std::string& method, const std::string& target, const std::string& body = {},
               const fields& more = {});
inline answer get(std::uint16_t port, const std::string& target, const fields& more = {}) {
  return request(port, "GET", target, {}, more);
}
inline answer post(std::uint16_t port, const std::string& target, const std::string& body, const fields& more = {}) {
  return request(port, "POST", target, body, more);
}

// What a JSON text says at a path such as "outputs.0.url": a string's text, a number's digits, "true", "null", or the
// JSON of an array or object; "<absent>" where there is nothing, "<not JSON>" when the text is none.
std::string at(const std::string& json, const std::string& path);
// The text as a JSON string, with its quotes.
std::string quoted(const std::string& text);
// For a query.
std::string percent_encoded(const std::string& text);

}  // namespace e2e
