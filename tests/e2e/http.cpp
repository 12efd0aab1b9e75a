#include "http.hpp"

#include <Poco/Dynamic/Var.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <Poco/JSON/Stringifier.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/NumberParser.h>
#include <Poco/URI.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "recorder.hpp"

namespace e2e {
namespace {

using clock = std::chrono::steady_clock;

std::string lower(std::string s) {
  for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return s;
}

void read_head(const std::string& head, answer& a) {
  if (head.compare(0, 9, "HTTP/1.1 ") != 0) throw std::runtime_error("not an HTTP/1.1 answer: " + head.substr(0, 80));
  a.status = std::stoi(head.substr(9, 3));
  for (std::size_t from = head.find("\r\n") + 2; from < head.size();) {
    const std::size_t end = head.find("\r\n", from), colon = head.find(':', from);
    if (end == from || end == std::string::npos) break;
    if (colon == std::string::npos || colon > end) throw std::runtime_error("a header without a colon in the answer");
    std::string& value = a.headers[lower(head.substr(from, colon - from))];
    const std::size_t text = head.find_first_not_of(' ', colon + 1);
    if (!value.empty()) value += ", ";
    value += head.substr(text, end - text);
    from = end + 2;
  }
}

}  // namespace

struct raw_socket::state {
  Poco::Net::StreamSocket socket;
  std::string pending;  // received, not yet taken
  bool ended = false;
  bool lost = false;  // by an error or a reset

  // Waits for more; false: the other end has closed, or the time is over.
  bool more(clock::time_point until) {
    if (ended) return false;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(until - clock::now()).count();
    if (left <= 0 || !socket.poll(Poco::Timespan(left), Poco::Net::Socket::SELECT_READ)) return false;
    char buffer[64 * 1024];
    try {
      const int n = socket.receiveBytes(buffer, sizeof buffer);
      if (n > 0)
        pending.append(buffer, static_cast<std::size_t>(n));
      else
        ended = true;
    } catch (const Poco::Exception&) {
      ended = lost = true;
    }
    return !ended;
  }
  std::string take(std::size_t n) {
    std::string out = pending.substr(0, n);
    pending.erase(0, n);
    return out;
  }
};

raw_socket::raw_socket(std::uint16_t port, int receive_buffer) : state_(std::make_unique<state>()) {
  if (receive_buffer) {
    state_->socket = Poco::Net::StreamSocket(Poco::Net::SocketAddress::IPv4);
    state_->socket.setReceiveBufferSize(receive_buffer);
  }
  state_->socket.connect(Poco::Net::SocketAddress("127.0.0.1", port), Poco::Timespan(10, 0));
  state_->socket.setNoDelay(true);
  state_->socket.setSendTimeout(Poco::Timespan(20, 0));
}
raw_socket::~raw_socket() = default;
raw_socket::raw_socket(raw_socket&&) noexcept = default;

void raw_socket::send(std::string_view bytes) {
  try {
    while (!bytes.empty()) {
      const int n =
          state_->socket.sendBytes(bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20)));
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  } catch (const Poco::Exception&) {  // closed by the server, which may be what the test is about: the answer tells
  }
}

std::string raw_socket::receive(std::size_t n, std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  while (state_->pending.size() < n && state_->more(until)) {
  }
  return state_->take(std::min(n, state_->pending.size()));
}

std::string raw_socket::receive_all(std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  while (state_->more(until)) {
  }
  if (!state_->ended)
    throw std::runtime_error("the connection does not end; so far: " + state_->pending.substr(0, 200));
  return state_->take(state_->pending.size());
}

bool raw_socket::closes(std::chrono::milliseconds within) {
  state_->more(clock::now() + within);
  return state_->ended && state_->pending.empty();
}

void raw_socket::reset() {
  state_->socket.setLinger(true, 0);
  state_->socket.close();
}

answer raw_socket::receive_answer(std::string_view method, std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  const auto need = [&](std::size_t n) {
    while (state_->pending.size() < n)
      if (!state_->more(until))
        throw std::runtime_error(std::string(state_->ended ? "the connection ended" : "too late") +
                                 " within an answer: " + state_->pending.substr(0, 200));
  };
  const auto line_end = [&](const char* what) {
    for (;;) {
      const std::size_t end = state_->pending.find(what);
      if (end != std::string::npos) return end;
      need(state_->pending.size() + 1);
    }
  };
  answer a;
  do {  // interim answers come first
    a = answer();
    const std::size_t end = line_end("\r\n\r\n") + 4;
    read_head(state_->take(end), a);
  } while (a.status == 100);
  if (method == "HEAD" || a.status == 204 || a.status == 304) return a;
  if (lower(a.header("transfer-encoding")) == "chunked") {
    for (;;) {
      const std::size_t end = line_end("\r\n");
      const std::size_t size = std::stoul(state_->take(end + 2), nullptr, 16);
      need(size + 2);
      a.body += state_->take(size);
      if (state_->take(2) != "\r\n") throw std::runtime_error("a chunk without its end");
      if (!size) return a;
    }
  }
  if (a.has("content-length")) {
    const std::size_t size = std::stoul(a.header("content-length"));
    need(size);
    a.body = state_->take(size);
    return a;
  }
  while (state_->more(until)) {
  }
  if (state_->lost) throw std::runtime_error("the connection was lost within an answer");
  a.body = state_->take(state_->pending.size());
  return a;
}

answer request(std::uint16_t port, const std::string& method, const std::string& target, const std::string& body,
               const fields& more) {
  std::string head = method + ' ' + target + " HTTP/1.1\r\n";
  bool has_host = false;
  for (const auto& [name, value] : more) {
    has_host = has_host || lower(name) == "host";
    head += name + ": " + value + "\r\n";
  }
  if (!has_host) head += "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  if (!body.empty() || method == "POST") head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  raw_socket socket(port);
  socket.send(head + "Connection: close\r\n\r\n" + body);
  answer a = socket.receive_answer(method, std::chrono::seconds(40));
  record(method, target, a);
  return a;
}

std::string at(const std::string& json, const std::string& path) {
  try {
    Poco::Dynamic::Var here = Poco::JSON::Parser().parse(json);
    std::istringstream steps(path);
    for (std::string step; std::getline(steps, step, '.');) {
      if (here.type() == typeid(Poco::JSON::Object::Ptr)) {
        const auto object = here.extract<Poco::JSON::Object::Ptr>();
        if (!object->has(step)) return "<absent>";
        here = object->get(step);
      } else if (here.type() == typeid(Poco::JSON::Array::Ptr)) {
        const auto array = here.extract<Poco::JSON::Array::Ptr>();
        unsigned index = 0;
        if (!Poco::NumberParser::tryParseUnsigned(step, index) || index >= array->size()) return "<absent>";
        here = array->get(index);
      } else {
        return "<absent>";
      }
    }
    if (here.isEmpty()) return "null";
    if (here.isString() || here.isNumeric() || here.isBoolean()) return here.convert<std::string>();
    std::ostringstream out;
    Poco::JSON::Stringifier::stringify(here, out);
    return out.str();
  } catch (const Poco::Exception&) {
    return "<not JSON>";
  }
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  Poco::JSON::Stringifier::formatString(text, out);
  return out.str();
}

std::string percent_encoded(const std::string& text) {
  std::string out;
  Poco::URI::encode(text, "!#$%&'()*+,/:;=?@[]\"\\ ", out);
  return out;
}

}  // namespace e2e
