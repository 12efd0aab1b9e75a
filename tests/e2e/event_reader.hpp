// tests/e2e/event_reader.hpp - one event stream, read as it comes by a strict parser.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "http.hpp"

namespace e2e {

// An event, or a comment line: then name is ":".
struct stream_event {
  std::string name, data;
  std::chrono::steady_clock::time_point at;
};

// Throws std::runtime_error when what comes is not exactly frames of "event: NAME\ndata: LINE\n\n" and comments.
class event_reader {
 public:
  // Sends the request.  version: "1.1" or "1.0".
  event_reader(std::uint16_t port, const std::string& job, const fields& more = {}, const std::string& version = "1.1",
               int receive_buffer = 0);

  int status() const noexcept { return status_; }
  const std::string& head() const noexcept { return head_; }  // as it came, in lower case
  std::chrono::steady_clock::time_point asked_at() const noexcept { return asked_; }

  // The next event or comment; nothing more comes: name is empty.  Throws when it does not come in time.
  stream_event next(std::chrono::milliseconds within = std::chrono::seconds(10));
  // Events up to the first with this name, it included; comments are passed over.
  stream_event next(const std::string& name, std::chrono::milliseconds within = std::chrono::seconds(10));
  // All events to the end of the stream, without comments.
  std::vector<stream_event> rest(std::chrono::milliseconds within = std::chrono::seconds(20));
  bool ended_whole() const noexcept {
    return whole_;
  }                                         // with the last chunk, or for HTTP/1.0 with the connection's end
  std::string raw() const { return raw_; }  // all that came of the body
  void reset() { socket_.reset(); }

 private:
  bool more(std::chrono::steady_clock::time_point until);
  bool decode();

  raw_socket socket_;
  std::string head_, wire_, body_, raw_;
  int status_ = 0;
  bool chunked_ = false, whole_ = false, over_ = false;
  std::chrono::steady_clock::time_point asked_;
};

// "status running|progress|output|status succeeded|", progress and preview once for each row of them.
std::string story(const std::vector<stream_event>&);

}  // namespace e2e
