#include "core/http/socket.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace portico::http::net {

namespace {

io moved(ssize_t n) noexcept {
  if (n > 0) return {outcome::done, static_cast<std::size_t>(n)};
  if (n == 0) return {outcome::end, 0};
  return {errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? outcome::would_block : outcome::lost, 0};
}

void describe(const sockaddr_storage& address, endpoint* out) noexcept {
  const void* raw = nullptr;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    raw = &v4.sin_addr, out->port = ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    raw = &v6.sin6_addr, out->port = ntohs(v6.sin6_port);
  }
  if (!::inet_ntop(address.ss_family, raw, out->text.data(), static_cast<socklen_t>(out->text.size())))
    out->text[0] = '\0';
  out->text_size = static_cast<std::uint8_t>(std::string_view(out->text.data()).size());
}

// Names the address in what is thrown; the descriptor closes itself on the way out.
struct opening {
  int fd = -1;
  const std::string& what;
  ~opening() {
    if (fd >= 0) ::close(fd);
  }
  void check(int result) const {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  }
};

listening listen_on(const addrinfo& address, std::uint16_t port, const std::string& what) {
  opening s{::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), what};
  s.check(s.fd);
  const int on = 1;
  s.check(::setsockopt(s.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  if (address.ai_family == AF_INET6) s.check(::setsockopt(s.fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on));
  // Inherited by what is accepted, so that it need not be said for each.
  s.check(::setsockopt(s.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  sockaddr_storage where{};
  std::copy_n(reinterpret_cast<const char*>(address.ai_addr), address.ai_addrlen, reinterpret_cast<char*>(&where));
  in_port_t& number = address.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(where).sin6_port
                                                    : reinterpret_cast<sockaddr_in&>(where).sin_port;
  number = htons(port);
  s.check(::bind(s.fd, reinterpret_cast<const sockaddr*>(&where), address.ai_addrlen));
  s.check(::listen(s.fd, SOMAXCONN));
  socklen_t size = sizeof where;
  s.check(::getsockname(s.fd, reinterpret_cast<sockaddr*>(&where), &size));
  return {std::exchange(s.fd, -1), ntohs(number)};
}

struct addresses {
  addrinfo* first = nullptr;
  ~addresses() {
    if (first) ::freeaddrinfo(first);
  }
};

}  // namespace

io receive(descriptor s, char* to, std::size_t size) noexcept { return moved(::recv(s, to, size, 0)); }

io send(descriptor s, std::span<const std::string_view> pieces) noexcept {
  if (pieces.size() == 1) return moved(::send(s, pieces[0].data(), pieces[0].size(), MSG_NOSIGNAL));
  std::array<iovec, 4> parts;
  std::size_t count = 0;
  for (const std::string_view piece : pieces)
    if (!piece.empty()) parts[count++] = {const_cast<char*>(piece.data()), piece.size()};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  return moved(::sendmsg(s, &message, MSG_NOSIGNAL));
}

io send_file(descriptor socket, std::intptr_t file, std::uint64_t offset, std::size_t size) noexcept {
  off_t from = static_cast<off_t>(offset);
  const ssize_t n = ::sendfile(socket, static_cast<int>(file), &from, size);
  // What the system says of the file itself is no matter of the connection.
  if (n < 0 && (errno == EIO || errno == EINVAL || errno == EBADF)) return {outcome::end, 0};
  return moved(n);
}

void shut_write(descriptor s) noexcept { ::shutdown(s, SHUT_WR); }

void close(descriptor s) noexcept { ::close(s); }

void reset(descriptor s) noexcept {
  const linger at_once{1, 0};
  ::setsockopt(s, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(s);
}

accepting accept(descriptor listener, descriptor* socket, endpoint* peer) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  *socket = ::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (*socket >= 0) {
    describe(address, peer);
    return accepting::accepted;
  }
  switch (errno) {
    case EAGAIN:
      return accepting::nothing;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return accepting::exhausted;
    default:
      return accepting::again;  // the errors of the one that waited
  }
}

std::vector<listening> listen(const std::string& host, std::uint16_t port) {
  const bool local = host == "localhost";
  const std::string what = "cannot listen on " + (host.find(':') == std::string::npos ? host : "[" + host + "]") +
                           " port " + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  std::vector<listening> all;
  try {
    for (const char* name : {local ? "127.0.0.1" : host.c_str(), local ? "::1" : nullptr}) {
      if (!name) break;
      addresses found;
      if (const int error = ::getaddrinfo(name, nullptr, &hints, &found.first); error != 0)
        throw std::system_error(std::make_error_code(std::errc::address_not_available),
                                what + ": " + ::gai_strerror(error));
      for (const addrinfo* a = found.first; a; a = a->ai_next) {
        try {
          all.push_back(listen_on(*a, all.empty() ? port : all.front().port, what));
        } catch (const std::system_error& e) {
          // A system without IPv6 has no ::1; a port of it that is taken is an error all the same.
          const int code = e.code().value();
          if (!local || all.empty() || (code != EAFNOSUPPORT && code != EADDRNOTAVAIL)) throw;
        }
      }
    }
  } catch (...) {
    for (const listening& l : all) ::close(l.socket);
    throw;
  }
  return all;
}

}  // namespace portico::http::net
