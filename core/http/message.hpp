// core/http/message.hpp - the head of a request as the engine hands it on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace portico::http {

// A header, or a route parameter.  Views.  Layout-compatible with nothing on purpose: core/plugin converts.
struct field {
  std::string_view name, value;
};

// Complete before anybody sees it; views live until the exchange, or the websocket it became, is given back.
struct request_head {
  std::string_view method;         // "GET"; an upper-case token as received
  std::string_view target;         // as received: origin-form, absolute-form or "*"
  std::string_view path;           // as received, percent-encoded, begins with '/'; "*" for OPTIONS *
  std::string_view query;          // as received, without '?'
  std::string_view authority;      // of an absolute-form target, else the Host header; checked; may be empty (HTTP/1.0)
  std::span<const field> headers;  // in order of arrival; names in lower case, values trimmed
  std::int64_t content_length = 0;  // 0: no body, -1: chunked
  int minor_version = 1;            // of HTTP/1.x
  bool expects_continue = false;

  // The first header of that lower-case name; empty if there is none.
  std::string_view header(std::string_view name) const noexcept {
    for (const field& f : headers)
      if (f.name == name) return f.value;
    return {};
  }
  bool has(std::string_view name) const noexcept {
    for (const field& f : headers)
      if (f.name == name) return true;
    return false;
  }
};

}  // namespace portico::http
