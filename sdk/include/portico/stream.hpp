// portico/stream.hpp - an answer whose body is written as it comes into being, and server-sent events on top of it.
#pragma once
#include <string>
#include <string_view>

#include "request.hpp"
#include "response.hpp"

namespace portico {
inline namespace v1 {

// The constructor sends the head.  Then `co_await out.write(...)`, and `co_return out.end();`.  A handler that throws
// after this makes the client see an incomplete response.
class stream {
 public:
  // length: of the whole body in bytes; -1: not known.
  stream(request& r, const response& head, int64_t length = -1) : request_(r) {
    if (!r.exchange()) throw error(PORTICO_E_STATE);
    check(head.with_fields([&](const portico_field* f, std::size_t n) {
      return r.server().http().begin(r.exchange(), head.status(), f, n, length);
    }));
    r.set_begun();
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  class [[nodiscard]] write_op final : public operation {
   public:
    write_op(request& r, std::string_view bytes) noexcept
        : operation(context(r.server())), x_(r.exchange()), bytes_(bytes) {}
    void await_resume() const { check(status()); }

   private:
    int32_t start() override { return server().http().write(x_, to_abi(bytes_), &done, arg()); }
    portico_exchange* x_;
    std::string_view bytes_;
  };
  // Waits while the client is slow.  error CLOSED when it has gone.
  write_op write(std::string_view bytes) noexcept { return write_op(request_, bytes); }

  class [[nodiscard]] send_file_op final : public operation {
   public:
    send_file_op(request& r, int64_t file, uint64_t offset, uint64_t size) noexcept
        : operation(context(r.server())), x_(r.exchange()), file_(file), offset_(offset), size_(size) {}
    void await_resume() const { check(status()); }

   private:
    int32_t start() override { return server().http().send_file(x_, file_, offset_, size_, &done, arg()); }
    portico_exchange* x_;
    int64_t file_;
    uint64_t offset_, size_;
  };
  // A part of an open file (a descriptor; on Windows a HANDLE), without copying it where the system can.  Waits until
  // it was taken.  The loop reads the file: `co_await work(...)` what reads it ahead first, a megabyte or so at a time.
  send_file_op send_file(int64_t file, uint64_t offset, uint64_t size) noexcept {
    return send_file_op(request_, file, offset, size);
  }
  // What the handler returns.
  response end() const { return response(0); }
  request& of() const noexcept { return request_; }

 private:
  request& request_;
};

// text/event-stream.  Each event leaves at the end of the loop turn it was sent in; the headers ask proxies not to hold
// it back either.
class event_stream {
 public:
  explicit event_stream(request& r)
      : event_stream(r, response(200, "text/event-stream")
                            .header("cache-control", "no-cache, no-transform")
                            .header("x-accel-buffering", "no")) {}
  event_stream(request& r, const response& head) : out_(r, head) {}

  // event may be empty and is one line; data may have several.
  stream::write_op send(std::string_view event, std::string_view data) {
    buffer_.clear();
    if (event.find_first_of("\r\n") != std::string_view::npos)
      throw error(PORTICO_E_ARGUMENT, "an event's name has a line end in it");
    if (!event.empty()) add_field("event: ", event);
    add_field("data: ", data);
    buffer_.append("\n");
    return out_.write(buffer_);
  }
  // Keeps idle connections open; clients ignore it.
  stream::write_op comment(std::string_view text) {
    buffer_.clear();
    add_field(": ", text);
    buffer_.append("\n");
    return out_.write(buffer_);
  }
  response end() const { return out_.end(); }

 private:
  // One line of the stream for each line of text.  A reader ends a line at CR, LF or both, so no text can pass for a
  // field of its own.
  void add_field(std::string_view name, std::string_view text) {
    for (;;) {
      const std::size_t end = text.find_first_of("\r\n");
      buffer_.append(name).append(text.substr(0, end)).append("\n");
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
    }
  }
  stream out_;
  std::string buffer_;
};

}  // namespace v1
}  // namespace portico
