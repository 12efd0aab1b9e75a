#include "plugins/comfyui_standin/hub.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace standin {
namespace {

void put32(std::string& out, std::size_t n) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 0xFF);
}

}  // namespace

// What is below the line belongs to the connection's own loop.
struct hub::connection {
  connection(portico::host h, std::uint32_t l, portico::websocket* s, std::string id)
      : loop(l), sid(std::move(id)), socket(s), idle(h, l) {}
  const std::uint32_t loop;
  const std::string sid;
  bool first_message = true;  // on loop 0
  // ---
  portico::websocket* socket;
  std::deque<frame_ptr> backlog;
  bool sending = false, closed = false, deaf = false;
  gate idle;  // opened when nothing is being sent any more
  void hang_up() noexcept {
    try {
      socket->shutdown(1001);
    } catch (const portico::error&) {  // closing already
    }
  }
};

hub::hub(portico::host h, const prompt_queue& q, const knobs& k, counters& c, spawner s)
    : host_(h), queue_(q), knobs_(k), counters_(c), spawn_(std::move(s)), wake_(h, 0) {}

json hub::status(const std::string* sid) const {
  json info = json::object(), status = json::object(), data = json::object();
  info.set("queue_remaining", json::integer(static_cast<std::int64_t>(queue_.remaining())));
  status.set("exec_info", std::move(info));
  data.set("status", std::move(status));
  if (sid) data.set("sid", json::text(*sid));
  return data;
}

hub::frame_ptr hub::text_frame(const char* type, const json& data) const {
  std::string text = "{\"type\":\"" + std::string(type) + "\",\"data\":";
  data.print_to(text);
  text += '}';
  return std::make_shared<const frame>(frame{true, knobs_.websocket == "close", std::move(text)});
}

void hub::enqueue(frame_ptr what, const std::string& client_id) {
  if (stopped_) return;
  letters_.push_back({std::move(what), client_id});
  wake_.open();
}

void hub::send(const char* type, const json& data, const std::string& client_id) {
  if (client_id.empty() || table_.count(client_id)) enqueue(text_frame(type, data), client_id);
}

void hub::send_preview(const std::string& png, const json& metadata, const std::string& client_id) {
  if (!table_.count(client_id)) return;
  std::string bytes;
  const auto flags = wants_metadata_.find(client_id);
  if (flags != wants_metadata_.end() && flags->second) {
    const std::string text = metadata.print();
    put32(bytes, 4);  // PREVIEW_IMAGE_WITH_METADATA
    put32(bytes, text.size());
    bytes += text;
  } else {
    put32(bytes, 1);  // PREVIEW_IMAGE
    put32(bytes, 2);  // PNG
  }
  bytes += png;
  enqueue(std::make_shared<const frame>(frame{false, knobs_.websocket == "close", std::move(bytes)}), client_id);
}

portico::task<void> hub::publish() {
  for (;;) {
    while (letters_.empty()) co_await wake_;
    const letter next = std::move(letters_.front());
    letters_.pop_front();
    std::vector<connection_ptr> targets;
    if (next.client_id.empty()) {
      for (const auto& [sid, c] : table_) targets.push_back(c);
    } else if (const auto it = table_.find(next.client_id); it != table_.end()) {
      targets.push_back(it->second);
    }
    for (const connection_ptr& c : targets) {
      if (!knobs_.unread_stalls) {
        spawn_(deliver(c, next.what));
        continue;
      }
      co_await deliver(c, next.what);
      co_await portico::move_to(host_, 0);
    }
  }
}

// Changes to the connection's loop: whoever awaits it must say where to go on.  Returns early when another delivery is
// at it: that one takes the frame along.
portico::task<void> hub::deliver(connection_ptr c, frame_ptr what) {
  co_await portico::move_to(host_, c->loop);
  if (c->closed) co_return;
  if (what) c->backlog.push_back(std::move(what));
  if (c->backlog.size() > max_backlog) c->backlog.pop_front();
  if (c->sending) co_return;
  c->sending = true;
  try {
    while (!c->backlog.empty() && !c->closed) {
      const frame_ptr next = std::move(c->backlog.front());
      c->backlog.pop_front();
      if (next->is_text)
        co_await c->socket->send_text(next->bytes);
      else
        co_await c->socket->send_binary(next->bytes);
      if (next->closes) c->socket->shutdown(1011);  // its handler then hears the end
    }
  } catch (const portico::error&) {  // lost; the handler hears of it too
    c->closed = true;
  }
  c->sending = false;
  c->idle.open();
}

void hub::attach(const connection_ptr& c) {
  counters_.socket_opened();
  all_[c.get()] = c;
  table_[c->sid] = c;
  wants_metadata_[c->sid] = false;
  c->backlog.push_back(text_frame("status", status(&c->sid)));  // nobody else knows the connection yet
  if (running_client_ == c->sid && !running_node_.empty()) {
    json data = json::object();
    data.set("node", json::text(running_node_));  // without a prompt_id: so does ComfyUI
    c->backlog.push_back(text_frame("executing", data));
  }
}

void hub::detach(const connection_ptr& c) {
  all_.erase(c.get());
  if (c->deaf) return;
  table_.erase(c->sid);  // whichever socket it names now
  wants_metadata_.erase(c->sid);
}

void hub::heard(const connection_ptr& c, const std::string& text) {
  const std::optional<json> said = json::parse(text);
  if (!said) return;
  const json* type = said->find("type");
  const bool first = std::exchange(c->first_message, false);
  if (!first || !type || type->str() != "feature_flags") return;
  const json* data = said->find("data");
  const json* flag = data ? data->find("supports_preview_metadata") : nullptr;
  const auto mine = table_.find(c->sid);
  if (mine == table_.end()) return;
  wants_metadata_[c->sid] = flag && flag->truthy();
  json features = json::object();
  features.set("supports_preview_metadata", json::boolean(true));
  features.set("max_upload_size", json::integer(104857600));
  send("feature_flags", features, c->sid);
}

// Until the client goes, the plugin stops, or somebody cancels.
portico::task<void> hub::listen(connection_ptr c) {
  try {
    while (true) {
      const std::optional<portico::websocket::message> message = co_await c->socket->receive();
      if (!message) break;
      if (!message->is_text()) continue;
      const std::string text(message->bytes());
      co_await portico::move_to(host_, 0);
      heard(c, text);
      co_await portico::move_to(host_, c->loop);
    }
  } catch (const portico::error&) {
  }
}

portico::task<portico::response> hub::serve(portico::request& req) {
  const std::uint32_t loop = req.loop();
  std::string sid = req.query("clientId");
  if (sid.empty()) sid = "socket-" + std::string(req.id());
  co_await portico::move_to(host_, 0);
  counters_.count("GET /ws");
  const std::string mode = knobs_.websocket;
  co_await portico::move_to(host_, loop);
  if (mode == "refuse") throw portico::http_error(403, "refused", "the stand-in was told to refuse sockets");

  portico::websocket ws = portico::websocket::accept(req);
  const auto c = std::make_shared<connection>(host_, loop, &ws, std::move(sid));
  c->deaf = mode == "deaf";
  co_await portico::move_to(host_, 0);
  if (c->deaf) {
    counters_.socket_opened();
    all_[c.get()] = c;
    if (stopped_) close(c);
    co_await portico::move_to(host_, loop);
    co_await c->idle;  // never reads, so that not even a ping is answered
  } else {
    attach(c);
    co_await deliver(c, nullptr);
    co_await portico::move_to(host_, loop);  // deliver changes loops, and may be done before it is waited for
    co_await listen(c);
  }
  c->closed = true;
  co_await portico::move_to(host_, 0);
  detach(c);
  co_await portico::move_to(host_, loop);
  while (c->sending) co_await c->idle;
  co_return ws.end(1001);
}

// On the connection's loop: a deaf one waits at its gate, another one in receive().
void hub::close(const connection_ptr& c) {
  struct job {
    connection_ptr c;
    static void PORTICO_CALL run(void* user) noexcept {
      const std::unique_ptr<job> self(static_cast<job*>(user));
      if (self->c->deaf)
        self->c->idle.open();
      else if (!self->c->closed)
        self->c->hang_up();
    }
  };
  auto work = std::make_unique<job>(job{c});
  if (host_.raw()->post(host_.raw(), c->loop, &job::run, work.get()) == PORTICO_OK) static_cast<void>(work.release());
}

void hub::close_all() {
  for (const auto& [raw, c] : all_) close(c);
}

void hub::stop() {
  stopped_ = true;
  wake_.shut();
  close_all();
}

}  // namespace standin
