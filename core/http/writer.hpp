// core/http/writer.hpp - heads and chunks of messages, as bytes in a buffer.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/http/buffer.hpp"
#include "core/http/message.hpp"

namespace portico::http {

// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", made anew once per second.  One per loop.
class date_line {
 public:
  // now: the loop's, so that the system's clock is asked once per second only.
  std::string_view at(std::chrono::steady_clock::time_point now) noexcept;

 private:
  std::array<char, 37> text_;
  std::chrono::steady_clock::time_point until_{};
};

// "Not Found"; "" for a status without a usual phrase.
std::string_view reason_phrase(int status) noexcept;

// Whether these may be sent as they are: names are tokens, values have no control characters, and none is a header that
// the engine itself sends (content-length, transfer-encoding, connection, date).
bool may_send(std::span<const field>) noexcept;

struct response_head {
  int status = 200;
  std::string_view date, lines;  // whole lines, each with its CR LF
  std::string_view request_id;   // empty: nothing is said
  std::span<const field> headers;
  std::int64_t content_length = -1;  // -1: none is said
  bool chunked = false;
  std::string_view connection;  // "close", "keep-alive" or "upgrade"; "": nothing is said
};
void append_head(buffer&, const response_head&);

// {"error":{"code":"...","message":"...","details":null}}
std::string error_envelope(std::string_view code, std::string_view message);
inline constexpr std::string_view envelope_type = "application/json; charset=utf-8";
// The code of an error that the engine itself answers with.
std::string_view error_code(int status) noexcept;

// One header as a line.
void append_line(std::string&, std::string_view name, std::string_view value);

// The request line and the headers as they are, up to and with the empty line.
void append_request_head(buffer&, std::string_view method, std::string_view target, std::span<const field> headers);

// What stands before the bytes of a chunk: its size and CR LF.  Behind them stands "\r\n", and at the end last_chunk.
class chunk_prefix {
 public:
  explicit chunk_prefix(std::size_t size) noexcept;
  std::string_view view() const noexcept { return {text_.data() + begin_, text_.size() - begin_}; }

 private:
  std::array<char, 18> text_;
  std::size_t begin_;
};
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace portico::http
