#include "core/upstream/dial.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace portico::upstream {
namespace {

address pack(const void* raw, std::size_t size) noexcept {
  address a;
  std::memcpy(a.bytes.data(), raw, size);
  a.size = static_cast<std::uint32_t>(size);
  return a;
}

}  // namespace

std::optional<address> numeric_address(std::string_view host, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN];
  if (host.size() >= sizeof text) return std::nullopt;
  text[host.copy(text, sizeof text - 1)] = '\0';
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) return pack(&v4, sizeof v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) return pack(&v6, sizeof v6);
  return std::nullopt;
}

address with_port(address a, std::uint16_t port) noexcept {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const in_port_t number = htons(port);
  std::memcpy(a.bytes.data() + offsetof(sockaddr_in, sin_port), &number, sizeof number);
  return a;
}

std::vector<address> look_up(const std::string& name, std::string* error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &first);
  if (code == EAI_NONAME || code == EAI_ADDRFAMILY) {  // a machine with loopback alone has no "configured" address
    hints.ai_flags = 0;
    code = ::getaddrinfo(name.c_str(), nullptr, &hints, &first);
  }
  if (code != 0) {
    *error = code == EAI_SYSTEM ? error_text(errno) : ::gai_strerror(code);
    return {};
  }
  std::vector<address> all;
  for (const addrinfo* a = first; a; a = a->ai_next)
    if ((a->ai_family == AF_INET || a->ai_family == AF_INET6) && a->ai_addrlen <= sizeof(address::bytes))
      all.push_back(pack(a->ai_addr, a->ai_addrlen));
  ::freeaddrinfo(first);
  if (all.empty()) *error = "the name has no address";
  return all;
}

dialled dial(const address& to, loop::descriptor* out, int* error) noexcept {
  sockaddr_storage where{};
  std::memcpy(&where, to.bytes.data(), to.size);
  const int fd = ::socket(where.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return *error = errno, dialled::failed;
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  *out = fd;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&where), to.size) == 0) return dialled::connected;
  if (errno == EINPROGRESS) return dialled::pending;
  *error = errno;
  ::close(fd);
  return dialled::failed;
}

int dial_error(loop::descriptor fd) noexcept {
  int code = 0;
  socklen_t size = sizeof code;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

std::string error_text(int code) { return std::generic_category().message(code); }

bool is_quiet(loop::descriptor fd) noexcept {
  char byte;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace portico::upstream
