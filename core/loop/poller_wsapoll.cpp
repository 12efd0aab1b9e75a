#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>

#include "core/loop/poller.hpp"

namespace portico::loop {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw std::system_error(::WSAGetLastError(), std::system_category(), what);
}

// WSAPoll refuses all but POLLRDNORM, POLLRDBAND and POLLWRNORM as interest.  A peer that has finished shows as
// readable, and as POLLHUP whether asked for or not.
short to_poll(unsigned interest) noexcept {
  return static_cast<short>((interest & readable ? POLLRDNORM : 0) | (interest & writable ? POLLWRNORM : 0));
}

unsigned from_poll(short events) noexcept {
  return (events & POLLRDNORM ? readable : 0U) | (events & POLLWRNORM ? writable : 0U) |
         (events & (POLLHUP | POLLERR | POLLNVAL) ? hangup : 0U);
}

// Winsock is counted per process: each user starts it and cleans up once.
struct winsock {
  winsock() {
    WSADATA data;
    if (const int error = ::WSAStartup(MAKEWORD(2, 2), &data); error != 0) {
      throw std::system_error(error, std::system_category(), "WSAStartup");
    }
  }
  ~winsock() { ::WSACleanup(); }
  winsock(const winsock&) = delete;
  winsock& operator=(const winsock&) = delete;
};

struct owned {
  SOCKET socket = INVALID_SOCKET;
  owned() = default;
  explicit owned(SOCKET opened, const char* what) : socket(opened) {
    if (socket == INVALID_SOCKET) refuse(what);
  }
  owned(owned&& other) noexcept : socket(std::exchange(other.socket, INVALID_SOCKET)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(socket, other.socket);
    return *this;
  }
  ~owned() {
    if (socket != INVALID_SOCKET) ::closesocket(socket);
  }
};

void make_nonblocking(SOCKET socket) {
  u_long yes = 1;
  if (::ioctlsocket(socket, FIONBIO, &yes) != 0) refuse("ioctlsocket");
}

sockaddr_in name_of(SOCKET socket, int(WSAAPI* ask)(SOCKET, sockaddr*, int*)) {
  sockaddr_in address{};
  int size = sizeof address;
  if (ask(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) refuse("the name of a socket");
  return address;
}

// Two connected sockets: what is sent into one wakes whoever polls the other.
struct socket_pair {
  owned out, in;

  socket_pair() {
    const owned listener(::socket(AF_INET, SOCK_STREAM, IPPROTO_TCP), "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const where = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(listener.socket, where, sizeof address) != 0) refuse("bind");
    address = name_of(listener.socket, ::getsockname);
    if (::listen(listener.socket, 8) != 0) refuse("listen");
    out = owned(::socket(AF_INET, SOCK_STREAM, IPPROTO_TCP), "socket");
    if (::connect(out.socket, where, sizeof address) != 0) refuse("connect");
    const u_short ours = name_of(out.socket, ::getsockname).sin_port;
    do {  // another program may have connected before us
      in = owned(::accept(listener.socket, nullptr, nullptr), "accept");
    } while (name_of(in.socket, ::getpeername).sin_port != ours);
    make_nonblocking(out.socket);
    make_nonblocking(in.socket);
  }

  void ring() const noexcept {
    const char one = 1;
    ::send(out.socket, &one, 1, 0);  // full: the other end has been woken already
  }
  void silence() const noexcept {
    std::array<char, 64> bytes;
    while (::recv(in.socket, bytes.data(), static_cast<int>(bytes.size()), 0) > 0) {
    }
  }
};

template <class T>
void make_room(std::vector<T>& items) {
  if (items.size() == items.capacity()) items.reserve(2 * items.size());
}

}  // namespace

struct poller::state {
  struct ready {
    watcher* who;
    unsigned what;
  };
  winsock library;
  socket_pair bell;
  std::vector<WSAPOLLFD> sockets;  // [0] is the bell
  std::vector<watcher*> watchers;  // beside it
  std::vector<unsigned> interests;
  std::unordered_map<descriptor, std::size_t> places;
  std::vector<ready> found;
  std::size_t told = 0;  // of found: those dispatch has come to

  state() {
    sockets.push_back({bell.in.socket, POLLRDNORM, 0});
    watchers.push_back(nullptr);
    interests.push_back(0);
  }

  // POLLHUP alone is also what a peer that has merely finished looks like: whoever reads will learn which it is.
  unsigned readiness_at(std::size_t place) const noexcept {
    const short events = sockets[place].revents;
    const unsigned what = from_poll(events), asked = interests[place] & (readable | finished);
    if ((events & POLLHUP) == 0 || (events & (POLLERR | POLLNVAL)) != 0 || asked == 0) return what;
    return (what & ~static_cast<unsigned>(hangup)) | asked;
  }
};

poller::poller() : state_(std::make_unique<state>()) {}

poller::~poller() = default;

void poller::add(descriptor fd, unsigned interest, watcher* w) {
  state& s = *state_;
  if (s.places.contains(fd))
    throw std::system_error(WSAEINVAL, std::system_category(), "the socket is watched already");
  // Room first, so that a failure leaves nothing behind.
  make_room(s.sockets);
  make_room(s.watchers);
  make_room(s.interests);
  s.places.emplace(fd, s.sockets.size());
  s.sockets.push_back({static_cast<SOCKET>(fd), to_poll(interest), 0});
  s.watchers.push_back(w);
  s.interests.push_back(interest);
}

void poller::modify(descriptor fd, unsigned interest, watcher* w) {
  state& s = *state_;
  const auto at = s.places.find(fd);
  if (at == s.places.end()) throw std::system_error(WSAENOTSOCK, std::system_category(), "the socket is not watched");
  s.sockets[at->second].events = to_poll(interest);
  s.watchers[at->second] = w;
  s.interests[at->second] = interest;
}

void poller::remove(descriptor fd, watcher* w) noexcept {
  state& s = *state_;
  for (std::size_t i = s.told; i < s.found.size(); ++i) {
    if (s.found[i].who == w) s.found[i].who = nullptr;
  }
  const auto at = s.places.find(fd);
  if (at == s.places.end()) return;
  const std::size_t place = at->second;
  s.places.erase(at);
  if (const std::size_t last = s.sockets.size() - 1; place != last) {
    s.sockets[place] = s.sockets[last];
    s.watchers[place] = s.watchers[last];
    s.interests[place] = s.interests[last];
    s.places[s.sockets[place].fd] = place;
  }
  s.sockets.pop_back();
  s.watchers.pop_back();
  s.interests.pop_back();
}

void poller::wait(std::chrono::milliseconds time) noexcept {
  state& s = *state_;
  s.found.clear();
  s.told = 0;
  constexpr std::chrono::milliseconds longest(1'000'000'000);  // what an int holds, with room
  const int limit = time.count() < 0 ? -1 : static_cast<int>(std::min(time, longest).count());
  int count = ::WSAPoll(s.sockets.data(), static_cast<ULONG>(s.sockets.size()), limit);
  if (count > 0 && s.sockets[0].revents != 0) {
    s.bell.silence();
    --count;
  }
  for (std::size_t place = 1; place < s.sockets.size() && count > 0; ++place) {
    if (s.sockets[place].revents == 0) continue;
    --count;
    s.found.push_back({s.watchers[place], s.readiness_at(place)});
  }
}

void poller::dispatch() noexcept {
  state& s = *state_;
  while (s.told < s.found.size()) {
    const state::ready next = s.found[s.told++];
    if (next.who) next.who->on_ready(next.what);
  }
}

void poller::wake() noexcept { state_->bell.ring(); }

}  // namespace portico::loop
