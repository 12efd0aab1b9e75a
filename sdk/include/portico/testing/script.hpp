// portico/testing/script.hpp - what the far ends do: clients that send requests, upstreams that answer calls.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct portico_exchange;
struct portico_websocket;

namespace portico::testing {

using fields = std::vector<std::pair<std::string, std::string>>;  // names in lower case

class server;

// The first header of that name, or empty.
inline std::string field_of(const fields& all, std::string_view name) {
  for (const auto& f : all)
    if (f.first == name) return f.second;
  return {};
}

// A request to be sent.
struct request {
  std::string method = "GET";
  std::string target = "/";  // path and query, percent-encoded
  fields headers{};
  std::string body{};
  bool body_follows = false;  // more comes with client::send and client::end; the length is not told ahead
  uint32_t loop = 0;
  std::string token_id{};
  bool slow = false;  // the client takes nothing of the response until client::read_again
};

// One client and what it has got.  Owned by the test and the server together; stays valid when the server is gone.
class client {
 public:
  int status = 0;  // 0: no response has begun
  fields headers{};
  std::string body{};
  bool over = false;            // the response is complete, or was broken off
  bool aborted = false;         // it was broken off
  bool continued = false;       // 100 Continue was sent
  int flushes = 0;              // how many loop turns sent something
  std::size_t most_queued = 0;  // bytes
  bool upgraded = false;
  std::vector<std::string> messages{};  // from the plugin, once upgraded
  int close_code = 0;                   // of the websocket, once over

  std::string header(std::string_view name) const { return field_of(headers, name); }

  // More of the body; its end; the client goes away; it reads again (or, false, stops reading).
  void send(std::string bytes);
  void end();
  void disconnect();
  void read_again(bool reads = true);
  // Once upgraded: a text message to the plugin; the closing handshake.
  void message(std::string text);
  void close(int code = 1000);

  // For the other headers of this folder.
  portico_exchange* exchange = nullptr;
  portico_websocket* socket = nullptr;

 private:
  friend class server;
  template <class F>
  void later(F f);
  server* server_ = nullptr;
  uint32_t loop_ = 0;
  std::weak_ptr<bool> server_lives_;
};

// A call that a plugin has made, as the upstream sees it.
struct seen_call {
  std::string method, url;
  fields headers;
  std::string body;  // what has come of it so far
};

// How an upstream answers one call.
struct reply {
  int status = 200;
  fields headers{};
  std::vector<std::string> chunks{};   // the body; they come one by one
  int64_t length = -1;                 // what the answer says of its body's length; -1: nothing
  std::chrono::milliseconds delay{0};  // before the head, and before each chunk
  bool refuses = false;                // no connection: E_UNREACHABLE
  bool early = false;                  // it answers without taking the body
  int breaks_after = -1;               // after that many chunks the connection is lost
  bool never = false;                  // it takes the request and stays silent

  static reply json(int status, std::string body) {
    reply r;
    r.status = status;
    r.headers = {{"content-type", "application/json"}};
    r.length = static_cast<int64_t>(body.size());
    r.chunks.push_back(std::move(body));
    return r;
  }
  static reply text(int status, std::string body) {
    reply r = json(status, std::move(body));
    r.headers = {{"content-type", "text/plain"}};
    return r;
  }
};

// Called when the request's body is complete, or at once for an upstream that answers early.
using upstream_script = std::function<reply(const seen_call&)>;

// The far end of a websocket that a plugin has opened.  Owned by the test and the server together.
class upstream_socket {
 public:
  std::string url{};
  fields headers{};
  std::vector<std::string> received{};
  bool open = false;
  int close_code = 0;  // the plugin's, once it has closed
  // A text or binary message to the plugin; the connection closes.
  void send(std::string text, bool binary = false);
  void close(int code = 1000);
  // Called with each message of the plugin.
  std::function<void(upstream_socket&, const std::string&)> on_message{};

  portico_websocket* socket = nullptr;  // for the other headers of this folder
};

}  // namespace portico::testing
