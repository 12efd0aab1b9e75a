#include "event_reader.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include "recorder.hpp"

namespace e2e {
namespace {

using clock = std::chrono::steady_clock;

std::chrono::milliseconds left(clock::time_point until) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()), std::chrono::milliseconds(0));
}

bool is_event_name(std::string_view name) {
  return name == "status" || name == "progress" || name == "preview" || name == "output";
}

// For whoever holds answers against the description; a stream's body is not looked at there.
void record_head(const std::string& target, const std::string& head) {
  answer a;
  a.status = std::stoi(head.substr(9, 3));
  std::istringstream lines(head.substr(head.find("\r\n") + 2));
  for (std::string line; std::getline(lines, line) && line != "\r";) {
    const std::size_t colon = line.find(": ");
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    a.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  if (a.status == 200) record("GET", target, a);
}

}  // namespace

event_reader::event_reader(std::uint16_t port, const std::string& job, const fields& more, const std::string& version,
                           int receive_buffer)
    : socket_(port, receive_buffer) {
  std::string request =
      "GET /api/v2/jobs/" + job + "/events HTTP/" + version + "\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n";
  for (const auto& [name, value] : more) request += name + ": " + value + "\r\n";
  asked_ = clock::now();
  socket_.send(request + "\r\n");
  const auto until = clock::now() + std::chrono::seconds(40);
  while (head_.find("\r\n\r\n") == std::string::npos) {
    const std::string byte = socket_.receive(1, left(until));
    if (byte.empty()) throw std::runtime_error("no head comes; so far: " + head_);
    head_ += byte;
  }
  record_head("/api/v2/jobs/" + job + "/events", head_);
  std::transform(head_.begin(), head_.end(), head_.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  status_ = std::stoi(head_.substr(9, 3));
  chunked_ = head_.find("transfer-encoding: chunked") != std::string::npos;
}

bool event_reader::more(clock::time_point until) {
  if (over_) return false;
  const std::string byte = socket_.receive(1, left(until));  // what else is there comes with it, below
  if (byte.empty()) {
    if (clock::now() < until) over_ = true;
    if (over_ && !chunked_) whole_ = true;
    return false;
  }
  wire_ += byte + socket_.receive(1 << 20, std::chrono::milliseconds(0));
  while (decode()) {
  }
  return true;
}

// One chunk from the wire into the body.
bool event_reader::decode() {
  std::string piece;
  if (chunked_) {
    const std::size_t line = wire_.find("\r\n");
    if (line == std::string::npos) return false;
    const std::size_t size = std::stoul(wire_.substr(0, line), nullptr, 16);
    if (wire_.size() < line + 2 + size + 2) return false;
    piece = wire_.substr(line + 2, size);
    wire_.erase(0, line + 2 + size + 2);
    if (!size) whole_ = over_ = true;
  } else {
    piece.swap(wire_);
  }
  body_ += piece;
  raw_ += piece;
  return !piece.empty();
}

stream_event event_reader::next(std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  std::size_t end = 0;
  while ((end = body_.find("\n\n")) == std::string::npos) {
    if (more(until)) continue;
    if (over_ && body_.empty()) return {};
    if (over_) throw std::runtime_error("the stream ends inside a frame: " + body_.substr(0, 200));
    throw std::runtime_error("no event comes; so far: " + body_.substr(0, 200));
  }
  const std::string frame = body_.substr(0, end);
  body_.erase(0, end + 2);
  const auto at = clock::now();
  if (frame.find('\r') != std::string::npos)
    throw std::runtime_error("a carriage return in a frame: " + frame.substr(0, 200));
  if (frame.compare(0, 1, ":") == 0 && frame.find('\n') == std::string::npos) return {":", frame, at};
  const std::size_t line = frame.find('\n');
  if (frame.compare(0, 7, "event: ") != 0 || line == std::string::npos || frame.compare(line, 7, "\ndata: ") != 0 ||
      frame.find('\n', line + 1) != std::string::npos || !is_event_name(frame.substr(7, line - 7)))
    throw std::runtime_error("not a frame: " + frame.substr(0, 200));
  return {frame.substr(7, line - 7), frame.substr(line + 7), at};
}

stream_event event_reader::next(const std::string& name, std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  for (;;) {
    stream_event e = next(left(until));
    if (e.name == name) return e;
    if (e.name.empty()) throw std::runtime_error("the stream ended before an event " + name);
  }
}

std::vector<stream_event> event_reader::rest(std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  std::vector<stream_event> all;
  for (;;) {
    stream_event e = next(left(until));
    if (e.name.empty()) return all;
    if (e.name != ":") all.push_back(std::move(e));
  }
}

std::string story(const std::vector<stream_event>& events) {
  std::string out, before;
  for (const stream_event& e : events) {
    std::string now = e.name;
    if (e.name == "status") now += " " + at(e.data, "status");
    if (now == before && e.name != "output") continue;
    out += now + "|";
    before = now;
  }
  return out;
}

}  // namespace e2e
