#include "browser.hpp"

#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Timespan.h>

#include <cstdlib>
#include <stdexcept>

namespace rig {

struct browser::state {
  Poco::Net::StreamSocket socket;
  std::string buffer;
  bool ended = false;
  std::string method = "GET";

  bool fill() {
    char piece[16 * 1024];
    try {
      const int n = socket.receiveBytes(piece, sizeof piece);
      if (n > 0)
        buffer.append(piece, static_cast<std::size_t>(n));
      else
        ended = true;
    } catch (const Poco::TimeoutException&) {
      throw std::runtime_error("no byte from the server for 20 s; so far: " + buffer);
    } catch (const Poco::Exception&) {  // reset
      ended = true;
    }
    return !ended;
  }
};

browser::browser(std::uint16_t port) : state_(std::make_unique<state>()) {
  state_->socket.connect(Poco::Net::SocketAddress("127.0.0.1", port));
  state_->socket.setNoDelay(true);
  state_->socket.setReceiveTimeout(Poco::Timespan(20, 0));
  state_->socket.setSendTimeout(Poco::Timespan(20, 0));
}
browser::~browser() = default;

void browser::send(std::string_view bytes) {
  while (!bytes.empty()) {
    int n = 0;
    try {
      n = state_->socket.sendBytes(bytes.data(), static_cast<int>(bytes.size()));
    } catch (const Poco::Exception&) {
      return;  // the other end has gone; reading will tell
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void browser::request(std::string_view method, std::string_view target, std::string_view body,
                      std::string_view headers) {
  state_->method = method;
  std::string text =
      std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + std::string(headers);
  if (!body.empty() || method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  send(text + "\r\n" + std::string(body));
}
void browser::request_chunked(std::string_view method, std::string_view target, std::string_view headers) {
  state_->method = method;
  send(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + std::string(headers) +
       "Transfer-Encoding: chunked\r\n\r\n");
}
void browser::chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  send(size + std::string(bytes) + "\r\n");
}

std::string browser::take(std::size_t n) {
  while (state_->buffer.size() < n && state_->fill()) {
  }
  std::string out = state_->buffer.substr(0, n);
  state_->buffer.erase(0, out.size());
  return out;
}
std::string browser::take_line() {
  std::size_t end = 0;
  while ((end = state_->buffer.find("\r\n")) == std::string::npos && state_->fill()) {
  }
  if (end == std::string::npos) return {};
  std::string out = state_->buffer.substr(0, end);
  state_->buffer.erase(0, end + 2);
  return out;
}

answer browser::read_answer() {
  answer a;
  do {  // past 100 Continue
    a = {};
    const std::string first = take_line();
    if (first.size() < 12) return a;
    a.status = std::atoi(first.c_str() + 9);
    for (std::string line = take_line(); !line.empty(); line = take_line()) {
      const std::size_t colon = line.find(':');
      std::string name = line.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      a.headers[name] = line.substr(line.find_first_not_of(' ', colon + 1));
    }
  } while (a.status == 100);
  if (state_->method == "HEAD" || a.status == 204 || a.status == 304) {
    a.whole = true;
  } else if (a.headers["transfer-encoding"] == "chunked") {
    for (;;) {
      const std::string size_line = take_line();
      if (size_line.empty()) break;
      const std::size_t size = std::strtoul(size_line.c_str(), nullptr, 16);
      const std::string piece = take(size);
      a.body += piece;
      if (piece.size() < size) break;
      take_line();
      if (size == 0) {
        a.whole = true;
        break;
      }
    }
  } else if (a.headers.count("content-length")) {
    const std::size_t size = std::strtoul(a.headers["content-length"].c_str(), nullptr, 10);
    a.body = take(size);
    a.whole = a.body.size() == size;
  } else {
    while (state_->fill()) {
    }
    a.body = take(state_->buffer.size());
    a.whole = true;
  }
  return a;
}

std::string browser::read_until(std::string_view part) {
  while (state_->buffer.find(part) == std::string::npos)
    if (!state_->fill()) throw std::runtime_error("the connection ended; so far: " + state_->buffer);
  const std::size_t end = state_->buffer.find(part) + part.size();
  return take(end);
}
std::string browser::read_some() {
  if (state_->buffer.empty()) state_->fill();
  return take(state_->buffer.size());
}
void browser::close() { state_->socket.close(); }
void browser::reset() {
  state_->socket.setLinger(true, 0);
  state_->socket.close();
}

answer browser::get(std::string_view target, std::string_view headers) {
  request("GET", target, {}, headers);
  return read_answer();
}
answer browser::post(std::string_view target, std::string_view body, std::string_view headers) {
  request("POST", target, body, headers);
  return read_answer();
}

int browser::upgrade(std::string_view target) {
  request("GET", target, {},
          "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  const std::string head = read_until("\r\n\r\n");
  return std::atoi(head.c_str() + 9);
}

namespace {
std::string frame(unsigned char opcode, std::string_view bytes) {
  std::string out(1, static_cast<char>(0x80 | opcode));
  if (bytes.size() < 126) {
    out += static_cast<char>(0x80 | bytes.size());
  } else if (bytes.size() < 65536) {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(bytes.size() >> 8);
    out += static_cast<char>(bytes.size() & 0xFF);
  } else {
    out += static_cast<char>(0x80 | 127);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>((bytes.size() >> shift) & 0xFF);
  }
  return out.append(4, '\0').append(bytes);  // a mask of zeros
}
}  // namespace

void browser::send_text(std::string_view text) { send(frame(1, text)); }
void browser::send_close(int code) {
  const char body[] = {static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
  send(frame(8, std::string_view(body, 2)));
}
std::string browser::read_frame() {
  for (;;) {
    const std::string head = take(2);
    if (head.size() < 2) return "end";
    const int opcode = head[0] & 0x0F;
    std::size_t size = static_cast<unsigned char>(head[1]) & 0x7F;
    if (size >= 126) {
      std::size_t wide = 0;
      for (const char c : take(size == 126 ? 2 : 8)) wide = wide << 8 | static_cast<unsigned char>(c);
      size = wide;
    }
    const std::string body = take(size);
    if (opcode == 1 || opcode == 2) return body;
    if (opcode == 8)
      return "close " + std::to_string(body.size() < 2 ? 0
                                                       : static_cast<unsigned char>(body[0]) << 8 |
                                                             static_cast<unsigned char>(body[1]));
  }
}

answer get(std::uint16_t port, std::string_view target, std::string_view headers) {
  return browser(port).get(target, headers);
}
answer post(std::uint16_t port, std::string_view target, std::string_view body, std::string_view headers) {
  return browser(port).post(target, body, headers);
}

}  // namespace rig
