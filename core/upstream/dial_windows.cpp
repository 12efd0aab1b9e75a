#include "core/upstream/dial.hpp"

#include <winsock2.h>
#include <ws2tcpip.h>

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
  v4.sin_port = ::htons(port);
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) return pack(&v4, sizeof v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = ::htons(port);
  if (::inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) return pack(&v6, sizeof v6);
  return std::nullopt;
}

address with_port(address a, std::uint16_t port) noexcept {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const u_short number = ::htons(port);
  std::memcpy(a.bytes.data() + offsetof(sockaddr_in, sin_port), &number, sizeof number);
  return a;
}

std::vector<address> look_up(const std::string& name, std::string* error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &first); code != 0) {
    *error = error_text(code);
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
  const SOCKET s = ::WSASocketW(where.ss_family, SOCK_STREAM, IPPROTO_TCP, nullptr, 0,
                                WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (s == INVALID_SOCKET) return *error = ::WSAGetLastError(), dialled::failed;
  u_long on = 1;
  ::ioctlsocket(s, static_cast<long>(FIONBIO), &on);
  const int yes = 1;
  ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes), sizeof yes);
  *out = s;
  if (::connect(s, reinterpret_cast<const sockaddr*>(&where), static_cast<int>(to.size)) == 0)
    return dialled::connected;
  *error = ::WSAGetLastError();
  if (*error == WSAEWOULDBLOCK || *error == WSAEINPROGRESS) return dialled::pending;
  ::closesocket(s);
  return dialled::failed;
}

int dial_error(loop::descriptor s) noexcept {
  int code = 0, size = sizeof code;
  return ::getsockopt(s, SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&code), &size) == 0 ? code : ::WSAGetLastError();
}

std::string error_text(int code) { return std::system_category().message(code); }

bool is_quiet(loop::descriptor s) noexcept {
  char byte;
  return ::recv(s, &byte, 1, MSG_PEEK) < 0 && ::WSAGetLastError() == WSAEWOULDBLOCK;
}

}  // namespace portico::upstream
