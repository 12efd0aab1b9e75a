// portico/request.hpp - one request: its head, its body, and the news that nobody wants the answer any more.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "operation.hpp"
#include "response.hpp"
#include "task.hpp"

namespace portico {
inline namespace v1 {
namespace detail {

// '+' is a space, %xx a byte; a broken escape stays as it is.
inline std::string decode(std::string_view s) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const int lower = c | 32;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && digit(s[i + 1]) >= 0 && digit(s[i + 2]) >= 0) {
      out += static_cast<char>(digit(s[i + 1]) * 16 + digit(s[i + 2]));
      i += 2;
    } else {
      out += s[i] == '+' ? ' ' : s[i];
    }
  }
  return out;
}

inline http_error too_large() {
  return http_error(413, "payload_too_large", "the request body is larger than this route takes");
}

}  // namespace detail

// Owned by the SDK for as long as the handler runs.  All members are called on its own loop.  Views live as long as the
// request, or as the websocket it became.  Where an operation takes a context, give it the request, so that it ends
// with error CLOSED or TIMEOUT when the client goes or the deadline passes.
class request {
 public:
  request(const host& h, portico_exchange* x, const portico_request* head, detail::frame_pool* pool) noexcept
      : host_(h), x_(x), head_(head), pool_(pool) {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  std::string_view id() const noexcept { return x_ ? view(head_->id) : std::string_view(id_); }
  std::string_view method() const noexcept { return view(head_->method); }
  std::string_view path() const noexcept { return view(head_->path); }
  std::string_view peer() const noexcept { return view(head_->peer); }
  std::string_view authority() const noexcept { return view(head_->authority); }
  // "scheme://authority" as the client sees this server; absolute links begin with it.
  std::string_view base_url() const noexcept { return view(head_->base_url); }
  // The name of the bearer token that let the request in; empty when none was asked for.
  std::string_view token_id() const noexcept { return view(head_->token_id); }
  std::string_view scheme() const noexcept { return view(head_->scheme); }
  int64_t content_length() const noexcept { return head_->content_length; }  // 0: no body, -1: not known
  uint32_t loop() const noexcept { return head_->loop; }
  const portico_request& head() const noexcept { return *head_; }

  // The first header of that name, given in lower case; empty if there is none.
  std::string_view header(std::string_view name) const noexcept {
    return first(head_->headers, head_->header_count, name);
  }
  // A parameter of the route's pattern, decoded.
  std::string_view param(std::string_view name) const noexcept {
    return first(head_->params, head_->param_count, name);
  }
  // The first query parameter of that name, decoded.
  std::string query(std::string_view key, std::string_view fallback = {}) const {
    for (std::string_view rest = view(head_->query); !rest.empty();) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(pair.size() < rest.size() ? pair.size() + 1 : rest.size());
      const std::string_view name = pair.substr(0, pair.find('='));
      if (name == key) return detail::decode(pair.substr(name.size() < pair.size() ? name.size() + 1 : pair.size()));
    }
    return std::string(fallback);
  }

  // co_await req.read(): the next piece of the body, empty at its end; valid until the next read.
  class [[nodiscard]] piece final : public operation {
   public:
    piece(const host& h, portico_exchange* x, std::size_t max) noexcept : operation(h), x_(x), max_(max) {}
    std::string_view await_resume() const {
      if (status() == PORTICO_E_LIMIT) throw detail::too_large();
      check(status());
      return view(chunk_);
    }

   private:
    int32_t start() override { return x_ ? server().http().read(x_, max_, &chunk_, &done, arg()) : PORTICO_E_STATE; }
    portico_exchange* x_;
    std::size_t max_;
    portico_str chunk_{};
  };
  piece read(std::size_t max = 0) noexcept { return piece(host_, x_, max); }

  // The whole body; http_error 413 when it is longer than limit bytes.
  task<std::string> body(std::size_t limit) {
    if (content_length() > 0 && static_cast<std::size_t>(content_length()) > limit) throw detail::too_large();
    std::string all;
    if (content_length() > 0) all.reserve(static_cast<std::size_t>(content_length()));
    for (;;) {
      const std::string_view chunk = co_await read();
      if (chunk.empty()) co_return all;
      if (chunk.size() > limit - all.size()) throw detail::too_large();
      all.append(chunk);
    }
  }

  // From now on; none by default.  Afterwards an answer can still be given.
  void deadline(std::chrono::milliseconds d) { check(host_.http().deadline(x_, static_cast<uint32_t>(d.count()))); }
  bool closed() const noexcept { return scope_.reason() != PORTICO_OK; }

  const host& server() const noexcept { return host_; }
  operator context() noexcept {
    if (!watched_) watched_ = x_ && host_.http().on_close(x_, &on_close, this) == PORTICO_OK;
    return context(host_, scope_);
  }

  // For the SDK, and for calls of the interface that have no wrapper: who gives it back takes it from the SDK.
  portico_exchange* exchange() const noexcept { return x_; }
  void unwatch() noexcept {  // before it is passed on or answered: nobody here is left to be told
    if (watched_) host_.http().on_close(x_, nullptr, nullptr);
  }
  bool begun() const noexcept { return begun_; }
  void set_begun() noexcept { begun_ = true; }
  void given_back() {  // by becoming a websocket; the head lives on until that closes
    id_ = view(head_->id);
    x_ = nullptr;
  }

 private:
  friend detail::frame_pool* detail::pool_of(request&) noexcept;
  static std::string_view first(const portico_field* f, std::size_t n, std::string_view name) noexcept {
    for (std::size_t i = 0; i < n; ++i)
      if (view(f[i].name) == name) return view(f[i].value);
    return {};
  }
  static void PORTICO_CALL on_close(void* user, int32_t reason) noexcept {
    static_cast<request*>(user)->scope_.end(reason);
  }
  const host& host_;
  portico_exchange* x_;
  const portico_request* head_;
  detail::frame_pool* pool_;
  scope scope_;
  std::string id_;
  bool watched_ = false, begun_ = false;
};

inline detail::frame_pool* detail::pool_of(request& r) noexcept { return r.pool_; }

}  // namespace v1
}  // namespace portico
