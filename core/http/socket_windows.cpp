#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>

#include "core/http/socket.hpp"

namespace portico::http::net {

namespace {

// Winsock is counted per process: each user starts it and cleans up once.
struct winsock {
  winsock() {
    WSADATA data;
    if (const int error = ::WSAStartup(MAKEWORD(2, 2), &data); error != 0)
      throw std::system_error(error, std::system_category(), "WSAStartup");
  }
  ~winsock() { ::WSACleanup(); }
};

io failure() noexcept { return {::WSAGetLastError() == WSAEWOULDBLOCK ? outcome::would_block : outcome::lost, 0}; }

void describe(const sockaddr_storage& address, endpoint* out) noexcept {
  const void* raw = nullptr;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    raw = &v4.sin_addr, out->port = ::ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    raw = &v6.sin6_addr, out->port = ::ntohs(v6.sin6_port);
  }
  if (!::inet_ntop(address.ss_family, raw, out->text.data(), out->text.size())) out->text[0] = '\0';
  out->text_size = static_cast<std::uint8_t>(std::string_view(out->text.data()).size());
}

bool prepare(SOCKET s) noexcept {
  u_long on = 1;
  const BOOL yes = TRUE;
  return ::ioctlsocket(s, FIONBIO, &on) == 0 &&
         ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes), sizeof yes) == 0;
}

// Names the address in what is thrown; the socket closes itself on the way out.
struct opening {
  SOCKET socket = INVALID_SOCKET;
  const std::string& what;
  ~opening() {
    if (socket != INVALID_SOCKET) ::closesocket(socket);
  }
  void check(bool good) const {
    if (!good) throw std::system_error(::WSAGetLastError(), std::system_category(), what);
  }
};

listening listen_on(const addrinfo& address, std::uint16_t port, const std::string& what) {
  opening s{::WSASocketW(address.ai_family, SOCK_STREAM, IPPROTO_TCP, nullptr, 0,
                         WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT),
            what};
  s.check(s.socket != INVALID_SOCKET);
  // Here SO_REUSEADDR would let two servers have one port; this is its opposite.
  const BOOL yes = TRUE;
  const auto* const on = reinterpret_cast<const char*>(&yes);
  s.check(::setsockopt(s.socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, on, sizeof yes) == 0);
  if (address.ai_family == AF_INET6) s.check(::setsockopt(s.socket, IPPROTO_IPV6, IPV6_V6ONLY, on, sizeof yes) == 0);
  s.check(prepare(s.socket));
  sockaddr_storage where{};
  std::copy_n(reinterpret_cast<const char*>(address.ai_addr), address.ai_addrlen, reinterpret_cast<char*>(&where));
  u_short& number = address.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(where).sin6_port
                                                  : reinterpret_cast<sockaddr_in&>(where).sin_port;
  number = ::htons(port);
  s.check(::bind(s.socket, reinterpret_cast<const sockaddr*>(&where), static_cast<int>(address.ai_addrlen)) == 0);
  s.check(::listen(s.socket, SOMAXCONN) == 0);
  int size = sizeof where;
  s.check(::getsockname(s.socket, reinterpret_cast<sockaddr*>(&where), &size) == 0);
  return {std::exchange(s.socket, INVALID_SOCKET), ::ntohs(number)};
}

struct addresses {
  addrinfo* first = nullptr;
  ~addresses() {
    if (first) ::freeaddrinfo(first);
  }
};

}  // namespace

io receive(descriptor s, char* to, std::size_t size) noexcept {
  const int n = ::recv(s, to, static_cast<int>(std::min<std::size_t>(size, 1 << 30)), 0);
  if (n > 0) return {outcome::done, static_cast<std::size_t>(n)};
  return n == 0 ? io{outcome::end, 0} : failure();
}

io send(descriptor s, std::span<const std::string_view> pieces) noexcept {
  std::array<WSABUF, 4> parts;
  DWORD count = 0, sent = 0;
  for (const std::string_view piece : pieces)
    if (!piece.empty()) parts[count++] = {static_cast<ULONG>(piece.size()), const_cast<char*>(piece.data())};
  if (::WSASend(s, parts.data(), count, &sent, 0, nullptr, nullptr) != 0) return failure();
  return {outcome::done, sent};
}

io send_file(descriptor socket, std::intptr_t file, std::uint64_t offset, std::size_t size) noexcept {
  char piece[64 * 1024];
  OVERLAPPED from{};
  from.Offset = static_cast<DWORD>(offset);
  from.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD got = 0;
  if (!::ReadFile(reinterpret_cast<HANDLE>(file), piece, static_cast<DWORD>(std::min(size, sizeof piece)), &got,
                  &from) ||
      got == 0)
    return {outcome::end, 0};
  const std::string_view bytes(piece, got);
  return send(socket, std::span(&bytes, 1));
}

void shut_write(descriptor s) noexcept { ::shutdown(s, SD_SEND); }

void close(descriptor s) noexcept { ::closesocket(s); }

void reset(descriptor s) noexcept {
  const linger at_once{1, 0};
  ::setsockopt(s, SOL_SOCKET, SO_LINGER, reinterpret_cast<const char*>(&at_once), sizeof at_once);
  ::closesocket(s);
}

accepting accept(descriptor listener, descriptor* socket, endpoint* peer) noexcept {
  sockaddr_storage address{};
  int size = sizeof address;
  const SOCKET s = ::accept(listener, reinterpret_cast<sockaddr*>(&address), &size);
  if (s != INVALID_SOCKET) {
    if (!prepare(s)) {
      ::closesocket(s);
      return accepting::again;
    }
    describe(address, peer);
    *socket = s;
    return accepting::accepted;
  }
  switch (::WSAGetLastError()) {
    case WSAEWOULDBLOCK:
      return accepting::nothing;
    case WSAEMFILE:
    case WSAENOBUFS:
      return accepting::exhausted;
    default:
      return accepting::again;
  }
}

std::vector<listening> listen(const std::string& host, std::uint16_t port) {
  static const winsock library;
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
        throw std::system_error(error, std::system_category(), what);
      for (const addrinfo* a = found.first; a; a = a->ai_next) {
        try {
          all.push_back(listen_on(*a, all.empty() ? port : all.front().port, what));
        } catch (const std::system_error& e) {
          // A system without IPv6 has no ::1; a port of it that is taken is an error all the same.
          const int code = e.code().value();
          if (!local || all.empty() || (code != WSAEAFNOSUPPORT && code != WSAEADDRNOTAVAIL)) throw;
        }
      }
    }
  } catch (...) {
    for (const listening& l : all) ::closesocket(l.socket);
    throw;
  }
  return all;
}

}  // namespace portico::http::net
