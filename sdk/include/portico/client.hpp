// portico/client.hpp - an HTTP call to another server, and pipes between it and a request.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operation.hpp"
#include "stream.hpp"

namespace portico {
inline namespace v1 {

// What to call.  Make it a named local, not a temporary inside co_await.
class call_options {
 public:
  call_options(std::string method, std::string url) : method_(std::move(method)), url_(std::move(url)) {}
  call_options& header(std::string name, std::string value) {
    headers_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  call_options& body_length(int64_t bytes) { return length_ = bytes, *this; }  // 0 by default; -1: not known
  call_options& connect_timeout(std::chrono::milliseconds d) { return connect_ = ms(d), *this; }
  call_options& idle_timeout(std::chrono::milliseconds d) { return idle_ = ms(d), *this; }
  call_options& total_timeout(std::chrono::milliseconds d) { return total_ = ms(d), *this; }

 private:
  friend class call;
  static uint32_t ms(std::chrono::milliseconds d) noexcept { return static_cast<uint32_t>(d.count()); }
  std::string method_, url_;
  std::vector<std::pair<std::string, std::string>> headers_;
  int64_t length_ = 0;
  uint32_t connect_ = 0, idle_ = 0, total_ = 0;
};

// The constructor starts the call, the destructor gives it back.  Errors: UNREACHABLE, TIMEOUT, CLOSED, PROTOCOL.
class call {
  class op : public operation {
   public:
    op(context c, portico_call* raw) noexcept : operation(c), raw_(raw) {}

   protected:
    ~op() = default;
    void cancel() noexcept override { server().client().cancel(raw_); }
    portico_call* raw_;
  };

 public:
  call(context c, const call_options& o) : context_(c) {
    std::vector<portico_field> fields;
    for (const auto& h : o.headers_) fields.push_back({to_abi(h.first), to_abi(h.second)});
    const portico_call_options raw = {sizeof(portico_call_options),
                                      o.connect_,
                                      o.idle_,
                                      o.total_,
                                      to_abi(o.method_),
                                      to_abi(o.url_),
                                      fields.data(),
                                      fields.size(),
                                      o.length_};
    check(api().open(c.server().raw(), &raw, &raw_));
  }
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  ~call() { api().close(raw_); }

  // co_await up.write(bytes): false when the answer came before the body was taken; go on with head().
  class [[nodiscard]] write_op final : public op {
   public:
    write_op(context c, portico_call* raw, std::string_view bytes) noexcept : op(c, raw), bytes_(bytes) {}
    bool await_resume() const { return status() != PORTICO_E_CLOSED && check(status()) >= 0; }

   private:
    int32_t start() override { return server().client().write(raw_, to_abi(bytes_), &done, arg()); }
    std::string_view bytes_;
  };
  write_op write(std::string_view bytes) noexcept { return write_op(context_, raw_, bytes); }
  // The body is complete; for one of unknown length.
  void end() { check(api().end(raw_)); }

  // const portico_head& h = co_await up.head(): valid as long as the call.
  class [[nodiscard]] head_op final : public op {
   public:
    head_op(context c, portico_call* raw) noexcept : op(c, raw) {}
    const portico_head& await_resume() const { return check(status()), *head_; }

   private:
    int32_t start() override { return server().client().head(raw_, &head_, &done, arg()); }
    const portico_head* head_ = nullptr;
  };
  head_op head() noexcept { return head_op(context_, raw_); }

  // co_await up.read(): the next piece of the answer, empty at its end; valid until the next read.
  class [[nodiscard]] read_op final : public op {
   public:
    read_op(context c, portico_call* raw, std::size_t max) noexcept : op(c, raw), max_(max) {}
    std::string_view await_resume() const { return check(status()), view(chunk_); }

   private:
    int32_t start() override { return server().client().read(raw_, max_, &chunk_, &done, arg()); }
    std::size_t max_;
    portico_str chunk_{};
  };
  read_op read(std::size_t max = 0) noexcept { return read_op(context_, raw_, max); }

  context where() const noexcept { return context_; }
  portico_call* raw() const noexcept { return raw_; }

 private:
  const portico_client& api() const { return context_.server().client(); }
  context context_;
  portico_call* raw_ = nullptr;
};

// co_await pipe(req, up): the request's body becomes the call's.  co_await pipe(up, out): the answer's body becomes the
// response's.  Gives the number of bytes; memory stays bounded whatever the size.  A call that answered early is not an
// error.
class [[nodiscard]] pipe final : public operation {
 public:
  pipe(request& from, call& to) noexcept : operation(to.where()), call_(to.raw()), x_(from.exchange()), up_(true) {}
  pipe(call& from, stream& to) noexcept
      : operation(from.where()), call_(from.raw()), x_(to.of().exchange()), up_(false) {}
  int64_t await_resume() const {
    if (!(up_ && result_.source == PORTICO_OK && result_.sink == PORTICO_E_CLOSED)) check(status());
    return result_.bytes;
  }

 private:
  int32_t start() override {
    return up_ ? server().client().pipe_request(call_, x_, &result_, &done, arg())
               : server().client().pipe_response(x_, call_, &result_, &done, arg());
  }
  void cancel() noexcept override { server().client().cancel(call_); }
  portico_call* call_;
  portico_exchange* x_;
  bool up_;
  portico_pipe result_{};
};

}  // namespace v1
}  // namespace portico
