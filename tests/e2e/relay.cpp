#include "relay.hpp"

#include <Poco/Base64Encoder.h>
#include <Poco/DigestEngine.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/SHA1Engine.h>

#include <sstream>

namespace e2e {
namespace {

using Poco::Net::StreamSocket;

const Poco::Timespan moment(0, 20'000);

// What can be read now; empty at the end.
std::string read_some(StreamSocket& from) {
  char buffer[64 * 1024];
  const int n = from.receiveBytes(buffer, sizeof buffer);
  return std::string(buffer, static_cast<std::size_t>(n > 0 ? n : 0));
}

void send_all(StreamSocket& to, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();)
    at += static_cast<std::size_t>(to.sendBytes(bytes.data() + at, static_cast<int>(bytes.size() - at)));
}

std::string lower(std::string s) {
  for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return s;
}

// The value of a header; empty when it is not there.
std::string header(const std::string& head, const std::string& name) {
  const std::size_t at = lower(head).find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t from = at + name.size() + 4;
  return head.substr(from, head.find("\r\n", from) - from);
}

std::size_t content_length(const std::string& head) {
  const std::string value = header(head, "content-length");
  return value.empty() ? 0 : std::stoul(value);
}

std::string handshake(const std::string& head) {
  Poco::SHA1Engine sha;
  sha.update(header(head, "sec-websocket-key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  const Poco::DigestEngine::Digest digest = sha.digest();
  std::ostringstream text;
  Poco::Base64Encoder encoder(text);
  encoder.write(reinterpret_cast<const char*>(digest.data()), static_cast<std::streamsize>(digest.size()));
  encoder.close();
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
         text.str() + "\r\n\r\n";
}

}  // namespace

std::uint16_t dead_port() {
  Poco::Net::ServerSocket taken(Poco::Net::SocketAddress("127.0.0.1", 0));
  return taken.address().port();
}

relay::relay(std::uint16_t upstream, judge j)
    : upstream_(upstream),
      judge_(std::move(j)),
      listener_(Poco::Net::SocketAddress("127.0.0.1", 0)),
      port_(listener_.address().port()),
      accepting_([this] { accept_all(); }) {}

relay::~relay() {
  over_ = true;
  accepting_.join();
  for (connection& c : connections_) c.thread.join();
}

void relay::behave(judge j) {
  const std::lock_guard<std::mutex> hold(lock_);
  judge_ = std::move(j);
}

void relay::accept_all() {
  while (!over_)
    if (listener_.poll(moment, Poco::Net::Socket::SELECT_READ)) {
      connection& c = connections_.emplace_back(connection{listener_.acceptConnection(), {}});
      c.thread = std::thread([this, &c] {
        serve(c.client);
        c.client.close();
      });
    }
}

bool relay::wait_readable(const StreamSocket& s) {
  while (!over_)
    if (s.poll(moment, Poco::Net::Socket::SELECT_READ)) return true;
  return false;
}

void relay::serve(StreamSocket& client) {
  try {
    std::string begun;
    while (begun.find("\r\n\r\n") == std::string::npos) {
      if (!wait_readable(client)) return;
      const std::string more = read_some(client);
      if (more.empty()) return;
      begun += more;
    }
    const std::string head = begun.substr(0, begun.find("\r\n\r\n") + 4);
    if (head.compare(0, 7, "GET /ws") == 0) ++sockets_;
    judge decide;
    {
      const std::lock_guard<std::mutex> hold(lock_);
      decide = judge_;
    }
    const deed what = decide(head);
    if (what == deed::pass || what == deed::reset) return pump(client, begun, what == deed::reset);
    while (begun.size() < head.size() + content_length(head) && wait_readable(client)) {
      const std::string more = read_some(client);
      if (more.empty()) return;
      begun += more;
    }
    if (what == deed::garbage) send_all(client, "220 mail.example.test ESMTP\r\n\r\n");
    if (what == deed::half_head) send_all(client, "HTTP/1.1 200 OK\r\nContent-Ty");
    if (what == deed::deaf) send_all(client, handshake(head));
    while (!over_ && (what == deed::silence || what == deed::deaf))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } catch (const Poco::Exception&) {  // one side has gone: so does the other
  }
}

// One request for each connection, so that every request is judged: the stand-in is asked to close after its answer.
void relay::pump(StreamSocket& client, const std::string& begun, bool reset_after_message) {
  StreamSocket server(Poco::Net::SocketAddress("127.0.0.1", upstream_));
  const std::size_t line = begun.find("\r\n") + 2;
  const bool upgrade = begun.compare(0, 7, "GET /ws") == 0;
  send_all(server, upgrade ? begun : begun.substr(0, line) + "Connection: close\r\n" + begun.substr(line));
  std::size_t answered = 0;
  bool in_handshake = upgrade;
  while (!over_) {
    if (client.poll(Poco::Timespan(0, 1'000), Poco::Net::Socket::SELECT_READ)) {
      const std::string bytes = read_some(client);
      if (bytes.empty()) return;
      send_all(server, bytes);
    }
    if (!server.poll(Poco::Timespan(0, 1'000), Poco::Net::Socket::SELECT_READ)) continue;
    const std::string bytes = read_some(server);
    if (bytes.empty()) return;
    send_all(client, bytes);
    answered += bytes.size();
    const bool more_than_the_head = !in_handshake || bytes.find("\r\n\r\n") + 4 < bytes.size();
    in_handshake = false;
    if (!reset_after_message || !more_than_the_head) continue;
    client.setLinger(true, 0);  // close sends RST
    client.close();
    return;
  }
}

}  // namespace e2e
