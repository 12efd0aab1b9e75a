// core/http/parser.hpp - heads and bodies of HTTP/1.x messages, from bytes.  No I/O; no allocation once warm.
//
// Strict, because two readers that disagree about where a message ends are a hole: CR LF only, no folded headers, no
// space before a colon, one Host, one Content-Length or `chunked` and nothing else.  Whatever is refused ends the
// connection.  Objects belong to one thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/http/message.hpp"

namespace portico::http {

// In bytes; each counts to the end of its line.  A head is never longer than max_request_line + max_header_bytes.
struct head_limits {
  std::size_t max_request_line = 16 * 1024;  // more is 414 (of a response: refused)
  std::size_t max_header_bytes = 64 * 1024;  // all headers together; more is 431
  std::size_t max_header_line = 16 * 1024;   // one header; more is 431
  std::size_t max_headers = 128;             // more is 431
};

// Why a message was refused.  Of a request, status is what to answer: 400, 414, 417, 431, 501 or 505.  Static text.
struct refusal {
  int status = 0;
  std::string_view message;
};

enum class parsed { more, complete, refused };

// How a body ends.
enum class framing { none, length, chunked, until_close };

// Header lines up to the empty one.  A part of the two parsers below, and of the trailers of a chunked body.
class header_block {
 public:
  explicit header_block(const head_limits&) noexcept;
  // Goes on at offset `at` of data; afterwards `at` is where to go on, or just behind the empty line.  Lower-cases
  // names in place.
  parsed parse(char* data, std::size_t size, std::size_t& at);
  // Complete only.  Views into data, which may have moved since parse.
  std::span<const field> fields(const char* data);
  refusal why() const noexcept { return why_; }
  void reset() noexcept;

 private:
  enum class step : std::uint8_t { line, name, space, value, line_feed, last_line_feed };
  struct entry {
    std::uint32_t name, name_size, value, value_size;
  };
  parsed refuse(int status, std::string_view message) noexcept;
  parsed over_limit(std::size_t at) noexcept;
  void end_value(const char* data, std::size_t at);
  const head_limits& limits_;
  std::vector<entry> entries_;
  std::vector<field> fields_;
  refusal why_;
  std::size_t begin_ = 0, line_ = 0, value_ = 0;
  step step_ = step::line;
  bool started_ = false;
};

class request_parser {
 public:
  // limits: borrowed, as long as the parser lives.
  explicit request_parser(const head_limits& limits) noexcept;

  // data: every byte received of this request, from its first; at each call the same ones, at whatever address, and
  // perhaps more.  Names are lower-cased in place.  Bad bytes are refused as soon as they are seen, not at the end.
  parsed parse(char* data, std::size_t size);

  // Complete only.
  const request_head& head() const noexcept { return head_; }  // views into the data of the last call
  std::size_t size() const noexcept { return at_; }            // bytes of the head; the body, if any, is behind it
  framing body() const noexcept { return body_; }
  bool keep_alive() const noexcept { return keep_alive_; }  // what the client asks for, by version and Connection

  refusal why() const noexcept { return why_; }                              // refused only
  bool started() const noexcept { return at_ > 0 || step_ != step::begin; }  // a byte of the request was seen
  void reset() noexcept;                                                     // for the next request; keeps its memory

 private:
  enum class step : std::uint8_t { begin, begin_line_feed, method, target, query, version, line_feed, headers };
  parsed refuse(int status, std::string_view message) noexcept;
  parsed request_line(const char* data, std::size_t size);
  parsed end_method(std::string_view method);
  parsed end_target(const char* data);
  parsed end_version(std::string_view version);
  parsed finish(const char* data);
  parsed split_target(std::string_view target);
  parsed judge_fields();
  const head_limits& limits_;
  header_block headers_;
  request_head head_;
  refusal why_;
  std::size_t at_ = 0, begin_ = 0, target_ = 0, target_end_ = 0, query_ = 0, method_size_ = 0, version_ = 0;
  framing body_ = framing::none;
  step step_ = step::begin;
  bool keep_alive_ = true;
};

// The head of a response.  Interim answers (1xx but 101) are skipped.
class response_parser {
 public:
  explicit response_parser(const head_limits& limits) noexcept;  // borrowed

  // As request_parser::parse, with every byte since the connection's last response.  Refusals: why().message says what.
  parsed parse(char* data, std::size_t size);
  // Before parse: the answer to this method; HEAD has no body whatever its headers say.
  void expect(std::string_view method) noexcept { head_request_ = method == "HEAD"; }

  // Complete only; views into the data of the last call.
  int status() const noexcept { return status_; }  // 101, 200..999
  int minor_version() const noexcept { return minor_version_; }
  std::string_view reason() const noexcept { return reason_; }  // may be empty
  std::span<const field> headers() const noexcept { return fields_; }
  std::size_t size() const noexcept { return at_; }  // bytes up to the body, with skipped interim answers
  framing body() const noexcept { return body_; }
  std::int64_t content_length() const noexcept { return content_length_; }  // as said, body or not; -1: not said
  bool keep_alive() const noexcept { return keep_alive_; }      // the connection can be used again after the body
  bool saw_continue() const noexcept { return saw_continue_; }  // a 100 was among what was skipped; any time

  refusal why() const noexcept { return why_; }
  void reset() noexcept;

 private:
  enum class step : std::uint8_t { begin, line_feed, headers };
  parsed refuse(std::string_view message) noexcept;
  parsed status_line(const char* data, std::size_t size);
  parsed finish(const char* data);
  const head_limits& limits_;
  header_block headers_;
  std::span<const field> fields_;
  std::string_view reason_;
  refusal why_;
  std::int64_t content_length_ = -1;
  std::size_t at_ = 0, begin_ = 0, line_end_ = 0;
  int status_ = 0, minor_version_ = 1, interim_ = 0;
  framing body_ = framing::none;
  step step_ = step::begin;
  bool head_request_ = false, keep_alive_ = true, saw_continue_ = false;
};

// Takes the framing off a body, piece by piece.
class body_decoder {
 public:
  explicit body_decoder(const head_limits& limits) noexcept;  // borrowed; for trailers

  void start(framing, std::int64_t content_length = 0) noexcept;

  // Takes from the front of `input` (what was received and not yet taken) and removes it there.  Returns the next piece
  // of content, a view into input, at most max bytes; empty when more input is needed, when the body is complete, or
  // when it was refused.  Trailers are checked and dropped.
  std::string_view next(std::span<char>& input, std::size_t max);

  bool complete() const noexcept { return step_ == step::complete; }
  bool refused() const noexcept { return step_ == step::refused; }
  refusal why() const noexcept { return why_; }
  // until_close: the other end has closed, which completes it.  Else false: the body was cut short.
  bool end_of_input() noexcept;
  // Bytes that may be received without taking any of the next message; content_length left, or SIZE_MAX.
  std::size_t wants() const noexcept;

 private:
  enum class step : std::uint8_t {
    complete,
    refused,
    length,
    until_close,
    size,
    extension,
    size_line_feed,
    data,
    data_return,
    data_line_feed,  // of a chunk
    line,
    name,
    value,
    trailer_line_feed,
    last_line_feed  // of the trailers
  };
  bool framing_byte(char);
  bool trailer_byte(char);
  bool refuse(int status, std::string_view message) noexcept;
  const head_limits& limits_;
  refusal why_;
  std::uint64_t left_ = 0;
  std::size_t overhead_ = 0;  // bytes of extensions and trailers so far
  std::size_t digits_ = 0;
  step step_ = step::complete;
};

}  // namespace portico::http
