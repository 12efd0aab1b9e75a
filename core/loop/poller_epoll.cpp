#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/loop/poller.hpp"

namespace portico::loop {
namespace {

constexpr std::size_t batch = 256;  // more is found by the next wait

[[noreturn]] void refuse(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::uint32_t to_epoll(unsigned interest) noexcept {
  return (interest & readable ? EPOLLIN : 0U) | (interest & writable ? EPOLLOUT : 0U) |
         (interest & finished ? EPOLLRDHUP : 0U);
}

unsigned from_epoll(std::uint32_t events) noexcept {
  return (events & EPOLLIN ? readable : 0U) | (events & EPOLLOUT ? writable : 0U) |
         (events & (EPOLLHUP | EPOLLERR) ? hangup : 0U) | (events & EPOLLRDHUP ? finished : 0U);
}

// A descriptor that closes itself.
struct owned {
  int fd;
  explicit owned(int opened, const char* what) : fd(opened) {
    if (fd < 0) refuse(what);
  }
  ~owned() { ::close(fd); }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
};

}  // namespace

struct poller::state {
  owned epoll{::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"};
  owned bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"};
  std::array<epoll_event, batch> found;
  std::span<epoll_event> to_tell;  // of found: those dispatch has not come to yet

  state() {
    // Edge-triggered, so that it need not be read: each write is an edge of its own.
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.ptr = nullptr;
    if (::epoll_ctl(epoll.fd, EPOLL_CTL_ADD, bell.fd, &event) != 0) refuse("epoll_ctl");
  }

  void control(int operation, descriptor fd, unsigned interest, watcher* w) {
    epoll_event event{};
    event.events = to_epoll(interest);
    event.data.ptr = w;
    if (::epoll_ctl(epoll.fd, operation, fd, &event) != 0) refuse("epoll_ctl");
  }
};

poller::poller() : state_(std::make_unique<state>()) {}

poller::~poller() = default;

void poller::add(descriptor fd, unsigned interest, watcher* w) { state_->control(EPOLL_CTL_ADD, fd, interest, w); }

void poller::modify(descriptor fd, unsigned interest, watcher* w) { state_->control(EPOLL_CTL_MOD, fd, interest, w); }

void poller::remove(descriptor fd, watcher* w) noexcept {
  epoll_event unused{};
  ::epoll_ctl(state_->epoll.fd, EPOLL_CTL_DEL, fd, &unused);
  for (epoll_event& event : state_->to_tell) {
    if (event.data.ptr == w) event.data.ptr = nullptr;
  }
}

void poller::wait(std::chrono::milliseconds time) noexcept {
  constexpr std::chrono::milliseconds longest(1'000'000'000);  // what an int holds, with room
  const int limit = time.count() < 0 ? -1 : static_cast<int>(std::min(time, longest).count());
  const int count = ::epoll_wait(state_->epoll.fd, state_->found.data(), static_cast<int>(batch), limit);
  state_->to_tell = std::span(state_->found).first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

void poller::dispatch() noexcept {
  while (!state_->to_tell.empty()) {
    const epoll_event event = state_->to_tell.front();
    state_->to_tell = state_->to_tell.subspan(1);
    if (event.data.ptr) static_cast<watcher*>(event.data.ptr)->on_ready(from_epoll(event.events));
  }
}

void poller::wake() noexcept {
  const std::uint64_t one = 1;
  // It can only fail when the count is full, and then the loop has been woken 2^64 times.
  [[maybe_unused]] const ssize_t wrote = ::write(state_->bell.fd, &one, sizeof one);
}

}  // namespace portico::loop
