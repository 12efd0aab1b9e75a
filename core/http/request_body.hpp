// core/http/request_body.hpp - the body of the request at hand: first what came with its head, then what follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/http/buffer.hpp"
#include "core/http/parser.hpp"

namespace portico::http {

class request_body {
 public:
  // in: holds the head, which must not move, and what came with it.
  request_body(const head_limits& limits, buffer& in, buffer_pool& pool) noexcept
      : decoder_(limits), in_(in), more_(pool) {}

  void start(framing f, std::int64_t content_length, std::size_t head_size) noexcept;

  // The next piece, at most max bytes, valid until the next take or room; empty: not yet, or complete, or refused.
  std::string_view take(std::size_t max);
  bool complete() const noexcept { return decoder_.complete(); }
  bool refused() const noexcept { return decoder_.refused(); }
  refusal why() const noexcept { return decoder_.why(); }

  // Where to receive what take lacks, fit for a taker of max bytes (0: it does not say).
  std::span<char> room(std::size_t max);
  void added(std::size_t n) noexcept { more_.added(n); }

  bool waits_for_first_byte() const noexcept { return untouched_ && unread_in() == 0 && more_.empty(); }
  // Whether what was received already reaches to the body's end.
  bool within_reach();
  // Nothing of the next request may be received behind it yet.
  bool holds_more() const noexcept { return !more_.empty(); }

  // What came behind the body, for a connection that is no longer HTTP.
  bool has_raw() const noexcept { return unread_in() > 0 || !more_.empty(); }
  std::string_view take_raw(std::size_t max) noexcept;

  // Drops the rest of the body as far as it was received; whether that was all of it.  Leaves in `in` what follows, and
  // the head is gone.
  bool finish();

 private:
  std::size_t unread_in() const noexcept { return in_.size() - at_; }
  body_decoder decoder_;
  buffer& in_;
  buffer more_;
  std::size_t at_ = 0;
  bool untouched_ = true;
};

}  // namespace portico::http
