// plugins/comfyui_standin/hub.hpp - the WebSockets of /ws and who is told what, as ComfyUI's server does it.
//
// ComfyUI keeps one table from client id to socket.  A second socket with the same id takes the entry over; when the
// first one ends, the entry goes, although it now names the second: that one hears only what is sent to it directly,
// and pings. All messages leave through one loop that waits for each socket in turn, so one client that does not read
// stalls all.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <portico/sdk.hpp>

#include "plugins/comfyui_standin/gate.hpp"
#include "plugins/comfyui_standin/json.hpp"
#include "plugins/comfyui_standin/knobs.hpp"
#include "plugins/comfyui_standin/queue.hpp"

namespace standin {

// Used on loop 0, except serve(), which runs on the loop of its request.
class hub {
 public:
  using spawner = std::function<void(portico::task<void>)>;
  hub(portico::host, const prompt_queue&, const knobs&, counters&, spawner);

  // One socket, from its request to its end.
  portico::task<portico::response> serve(portico::request&);
  // Sends what was queued; runs until stop().
  portico::task<void> publish();

  // {"type":type,"data":data} to the socket of that client id, or to every socket when it is empty.
  void send(const char* type, const json& data, const std::string& client_id);
  // A preview to one client: with metadata when its socket asked for that, else in the old form.  png: a PNG file.
  void send_preview(const std::string& png, const json& metadata, const std::string& client_id);
  // Whether a socket of that client would hear.
  bool is_listening(const std::string& client_id) const { return table_.count(client_id) != 0; }
  // The queue has changed: every socket gets a status.
  void queue_changed() { send("status", status(nullptr), {}); }
  // Which node runs, for whom: told to that client when it connects anew.  Empty: none.
  void now_running(std::string client_id, std::string node) {
    running_client_ = std::move(client_id);
    running_node_ = std::move(node);
  }
  // Closes every socket, as a restart does.
  void close_all();
  void stop();
  std::size_t open() const noexcept { return all_.size(); }

 private:
  struct frame {
    bool is_text, closes;  // closes: the socket is closed after it
    std::string bytes;
  };
  using frame_ptr = std::shared_ptr<const frame>;
  struct connection;
  using connection_ptr = std::shared_ptr<connection>;
  struct letter {
    frame_ptr what;
    std::string client_id;  // empty: all
  };
  static constexpr std::size_t max_backlog = 1'000;

  json status(const std::string* sid) const;
  void enqueue(frame_ptr, const std::string& client_id);
  frame_ptr text_frame(const char* type, const json& data) const;
  portico::task<void> deliver(connection_ptr, frame_ptr);
  portico::task<void> listen(connection_ptr);
  void attach(const connection_ptr&);
  void detach(const connection_ptr&);
  void heard(const connection_ptr&, const std::string& text);
  void close(const connection_ptr&);

  portico::host host_;
  const prompt_queue& queue_;
  const knobs& knobs_;
  counters& counters_;
  spawner spawn_;
  gate wake_;
  std::deque<letter> letters_;
  std::map<std::string, connection_ptr> table_;  // client id to socket
  std::map<std::string, bool> wants_metadata_;   // client id to what its feature flags say
  std::map<connection*, connection_ptr> all_;    // every open socket
  std::string running_client_, running_node_;
  bool stopped_ = false;
};

}  // namespace standin
