#include "running_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

std::string response::code() const {
  const std::string key = "\"code\":\"";
  const std::size_t begin = body.find(key);
  if (begin == std::string::npos) return {};
  return body.substr(begin + key.size(), body.find('"', begin + key.size()) - begin - key.size());
}

response ask(std::uint16_t port, const std::string& head, const std::string& body) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval limit{10, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("no connection");
  std::string text = head.substr(0, head.find("\r\n")) + " HTTP/1.1\r\n";
  if (head.find("\r\n") != std::string::npos) text += head.substr(head.find("\r\n") + 2);
  if (text.find("Host:") == std::string::npos) text += "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  text += "Connection: close\r\n\r\n" + body;
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  std::string received;
  char buffer[4096];
  for (ssize_t n; (n = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) received.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);

  response out;
  const std::size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos) throw std::runtime_error("no answer: " + received);
  std::istringstream lines(received.substr(0, end));
  std::string line;
  std::getline(lines, line);
  out.status = std::stoi(line.substr(line.find(' ') + 1));
  while (std::getline(lines, line)) {
    if (line.ends_with('\r')) line.pop_back();
    std::string name = line.substr(0, line.find(':'));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out.headers.emplace(name, line.substr(line.find(':') + 2));
  }
  out.body = received.substr(end + 4);
  return out;
}
