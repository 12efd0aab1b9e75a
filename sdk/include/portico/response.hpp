// portico/response.hpp - a whole answer as a value.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"

namespace portico {
inline namespace v1 {

// A content type written as a literal, so that keeping it costs nothing.  Others go through response::header.
class media_type {
 public:
  template <std::size_t N>
  consteval media_type(const char (&s)[N]) : text_(s, N - 1) {}
  constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

class response {
 public:
  explicit response(int status) : status_(status) {}
  response(int status, media_type type, std::string body = {})
      : status_(status), type_(type.text()), body_(std::move(body)) {}
  static response text(int status, std::string body) {
    return response(status, "text/plain; charset=utf-8", std::move(body));
  }
  static response json(int status, std::string body) {
    return response(status, "application/json; charset=utf-8", std::move(body));
  }

  // Adds a header.  Framing headers (content-length, transfer-encoding, connection) are the server's.
  response& header(std::string name, std::string value) & {
    headers_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  response&& header(std::string name, std::string value) && {
    return std::move(header(std::move(name), std::move(value)));
  }

  int status() const noexcept { return status_; }
  const std::string& body() const noexcept { return body_; }

  // For the SDK: calls begin(fields, count) with views that live during the call.
  template <class F>
  int32_t with_fields(F&& begin) const {
    if (headers_.empty()) {
      const portico_field type = {to_abi("content-type"), to_abi(type_)};
      return begin(&type, type_.empty() ? std::size_t{0} : std::size_t{1});
    }
    std::vector<portico_field> all;
    if (!type_.empty()) all.push_back({to_abi("content-type"), to_abi(type_)});
    for (const auto& h : headers_) all.push_back({to_abi(h.first), to_abi(h.second)});
    return begin(all.data(), all.size());
  }

 private:
  int status_;
  std::string_view type_;
  std::string body_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

// Appends s as a JSON string, quotes included.  Control characters are escaped; bytes that are not UTF-8 become U+FFFD.
inline void append_json_string(std::string& out, std::string_view s) {
  static constexpr char hex[] = "0123456789abcdef";
  const auto continuation = [&](std::size_t i) {
    return i < s.size() && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80;
  };
  out += '"';
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x20 || c == 0x7F) {
      switch (c) {
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          out.append("\\u00").append(1, hex[c >> 4]).append(1, hex[c & 15]);
      }
      ++i;
    } else if (c < 0x80) {
      if (c == '"' || c == '\\') out += '\\';
      out += s[i++];
    } else {
      const auto second = i + 1 < s.size() ? static_cast<unsigned char>(s[i + 1]) : 0u;
      std::size_t n = 0;  // the length of a well-formed sequence (Unicode 15, table 3-7)
      if (c >= 0xC2 && c <= 0xDF && continuation(i + 1))
        n = 2;
      else if (c >= 0xE0 && c <= 0xEF && continuation(i + 1) && continuation(i + 2) && !(c == 0xE0 && second < 0xA0) &&
               !(c == 0xED && second > 0x9F))
        n = 3;
      else if (c >= 0xF0 && c <= 0xF4 && continuation(i + 1) && continuation(i + 2) && continuation(i + 3) &&
               !(c == 0xF0 && second < 0x90) && !(c == 0xF4 && second > 0x8F))
        n = 4;
      if (n)
        out.append(s.substr(i, n));
      else
        out += "\xEF\xBF\xBD";
      i += n ? n : 1;
    }
  }
  out += '"';
}

// Throw it from a handler to answer with this status and the error envelope
// {"error":{"code":code,"message":message,"details":details}}.  code is a stable lower_case word for programs; message
// is for people; details is JSON text.  Ignored once the response has begun.
class http_error : public std::exception {
 public:
  http_error(int status, std::string code, std::string message, std::string details = "null")
      : status_(status), code_(std::move(code)), message_(std::move(message)), details_(std::move(details)) {}
  // Adds a header such as retry-after.
  http_error&& header(std::string name, std::string value) && {
    headers_.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }
  int status() const noexcept { return status_; }
  const std::string& code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }
  response answer() const {
    std::string body = "{\"error\":{\"code\":";
    append_json_string(body, code_);
    append_json_string(body.append(",\"message\":"), message_);
    body.append(",\"details\":").append(details_).append("}}");
    response r = response::json(status_, std::move(body));
    for (const auto& h : headers_) r.header(h.first, h.second);
    return r;
  }

 private:
  int status_;
  std::string code_, message_, details_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

}  // namespace v1
}  // namespace portico
