#include "core/http/parser.hpp"

#include <cstring>

#include "core/base/text.hpp"
#include "core/http/syntax.hpp"

namespace portico::http {

namespace {

constexpr std::size_t max_method = 32;
constexpr std::string_view current_version = "HTTP/1.1\r\n";

// Whether begin could become "HTTP/" digit "." digit.
bool may_be_version(std::string_view begin) noexcept {
  constexpr std::string_view shape = "HTTP/0.0";
  for (std::size_t i = 0; i < begin.size(); ++i)
    if (shape[i] == '0' ? !base::is_digit(begin[i]) : shape[i] != begin[i]) return false;
  return true;
}

// What the fields of a head say about its framing.
struct framing_fields {
  std::string_view host, length, coding, expect;
  int hosts = 0, lengths = 0, codings = 0;
  syntax::connection_options connection;

  explicit framing_fields(std::span<const field> fields) noexcept {
    for (const field& f : fields) switch (f.name.size()) {
        case 4:
          if (f.name == "host") host = f.value, ++hosts;
          break;
        case 6:
          if (f.name == "expect") expect = f.value;
          break;
        case 10:
          if (f.name == "connection") connection.add(f.value);
          break;
        case 14:
          if (f.name == "content-length") length = f.value, ++lengths;
          break;
        case 17:
          if (f.name == "transfer-encoding") coding = f.value, ++codings;
          break;
        default:
          break;
      }
  }

  // A reason to refuse, or status 0 and how the body is framed; length -1 when none was said.
  refusal judge(int minor_version, framing* body, std::int64_t* content_length) const noexcept {
    *body = framing::none, *content_length = -1;
    if (codings > 0) {
      if (lengths > 0) return {400, "both Content-Length and Transfer-Encoding"};
      if (codings > 1 || !base::equal_ignoring_case(coding, "chunked"))
        return {501, "the only Transfer-Encoding this server knows is `chunked`"};
      if (minor_version == 0) return {400, "Transfer-Encoding in a message of HTTP/1.0"};
      *body = framing::chunked;
    } else if (lengths > 0) {
      if (lengths > 1) return {400, "more than one Content-Length"};
      *content_length = syntax::content_length(length);
      if (*content_length < 0) return {400, "Content-Length is not a number"};
      *body = *content_length > 0 ? framing::length : framing::none;
    }
    return {};
  }

  bool keep_alive(int minor_version) const noexcept {
    return minor_version == 1 ? !connection.close : connection.keep_alive && !connection.close;
  }
};

}  // namespace

// ---- requests

request_parser::request_parser(const head_limits& limits) noexcept : limits_(limits), headers_(limits) {}

void request_parser::reset() noexcept {
  headers_.reset();
  head_ = {};
  why_ = {};
  at_ = begin_ = target_ = target_end_ = query_ = method_size_ = version_ = 0;
  body_ = framing::none;
  step_ = step::begin;
  keep_alive_ = true;
}

parsed request_parser::refuse(int status, std::string_view message) noexcept {
  why_ = {status, message};
  return parsed::refused;
}

parsed request_parser::parse(char* data, std::size_t size) {
  if (step_ != step::headers) {
    const parsed line = request_line(data, size);
    if (line != parsed::complete) return line;
    step_ = step::headers;
  }
  const parsed result = headers_.parse(data, size, at_);
  if (result == parsed::complete) return finish(data);
  if (result == parsed::refused) why_ = headers_.why();
  return result;
}

parsed request_parser::request_line(const char* data, std::size_t size) {
  for (;;) {
    if (at_ - begin_ > limits_.max_request_line)
      return refuse(414, "the request line is longer than this server allows");
    if (at_ == size) return parsed::more;
    switch (step_) {
      case step::begin:  // one empty line is forgiven: old clients end a body with it
        if (data[at_] == '\r') {
          if (begin_ > 0) return refuse(400, "empty lines before the request");
          ++at_, step_ = step::begin_line_feed;
          break;
        }
        step_ = step::method;
        [[fallthrough]];
      case step::method:
        while (at_ < size && syntax::of(syntax::method_char, data[at_])) ++at_;
        if (at_ - begin_ > max_method) return refuse(400, "the method is not one");
        if (at_ == size) return parsed::more;
        if (end_method({data + begin_, at_ - begin_}) == parsed::refused) return parsed::refused;
        if (data[at_] != ' ')
          return refuse(400, "the request does not begin with a method in capital letters and a space");
        target_ = ++at_, step_ = step::target;
        break;
      case step::target:
      case step::query: {
        const syntax::table& allowed = step_ == step::target ? syntax::path_char : syntax::query_char;
        while (at_ < size && syntax::of(allowed, data[at_])) ++at_;
        if (at_ == size) break;
        if (data[at_] == '?' && step_ == step::target) {
          query_ = ++at_, step_ = step::query;
          break;
        }
        if (data[at_] == '#') return refuse(400, "a fragment in the request target");
        if (data[at_] != ' ') return refuse(400, "a character that may not stand in a request target, or no version");
        if (end_target(data) == parsed::refused) return parsed::refused;
        version_ = ++at_, step_ = step::version;
        break;
      }
      case step::version: {
        if (size - version_ >= current_version.size() &&
            std::memcmp(data + version_, current_version.data(), current_version.size()) == 0) {
          at_ = version_ + current_version.size();
          if (at_ - begin_ > limits_.max_request_line) break;
          return parsed::complete;
        }
        at_ = size - version_ < 8 ? size : version_ + 8;
        if (!may_be_version({data + version_, at_ - version_}))
          return refuse(400, "the request line does not end in a version");
        if (at_ == version_ + 8 && at_ < size) {
          if (end_version({data + version_, 8}) == parsed::refused) return parsed::refused;
          if (data[at_] != '\r') return refuse(400, "the request line does not end in CR LF");
          ++at_, step_ = step::line_feed;
        }
        break;
      }
      case step::begin_line_feed:
      case step::line_feed: {
        if (data[at_] != '\n') return refuse(400, "a line that does not end in CR LF");
        ++at_;
        if (step_ == step::line_feed) return parsed::complete;
        begin_ = at_, step_ = step::begin;
        break;
      }
      case step::headers:
        return parsed::complete;
    }
  }
}

parsed request_parser::end_method(std::string_view method) {
  method_size_ = method.size();
  if (method.empty()) return refuse(400, "the request does not begin with a method in capital letters");
  if (method == "CONNECT") return refuse(501, "this server does not do CONNECT");
  return parsed::complete;
}

parsed request_parser::end_target(const char* data) {
  target_end_ = at_;
  if (target_end_ == target_) return refuse(400, "the request has no target");
  if (data[target_] == '*' && std::string_view(data + begin_, method_size_) != "OPTIONS")
    return refuse(400, "the target `*` is for OPTIONS only");
  return parsed::complete;
}

parsed request_parser::end_version(std::string_view version) {
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "this server speaks HTTP/1.1");
  head_.minor_version = version.back() - '0';
  return parsed::complete;
}

parsed request_parser::finish(const char* data) {
  head_.method = {data + begin_, method_size_};
  head_.headers = headers_.fields(data);
  head_.query = query_ > 0 ? std::string_view(data + query_, target_end_ - query_) : std::string_view();
  if (judge_fields() == parsed::refused) return parsed::refused;
  return split_target({data + target_, target_end_ - target_});
}

parsed request_parser::judge_fields() {
  const framing_fields fields(head_.headers);
  if (fields.hosts > 1) return refuse(400, "more than one Host");
  if (fields.hosts == 0 && head_.minor_version == 1) return refuse(400, "no Host");
  if (fields.hosts == 1 && !syntax::is_authority(fields.host)) return refuse(400, "Host is not `name` or `name:port`");
  head_.authority = fields.host;
  std::int64_t length = -1;
  why_ = fields.judge(head_.minor_version, &body_, &length);
  if (why_.status != 0) return parsed::refused;
  head_.content_length = body_ == framing::chunked ? -1 : length > 0 ? length : 0;
  keep_alive_ = fields.keep_alive(head_.minor_version);
  if (!fields.expect.empty() && head_.minor_version == 1) {
    if (!base::equal_ignoring_case(fields.expect, "100-continue"))
      return refuse(417, "the only expectation this server knows is `100-continue`");
    head_.expects_continue = body_ != framing::none;
  }
  return parsed::complete;
}

// target without its query: origin-form, absolute-form, or "*".
parsed request_parser::split_target(std::string_view target) {
  head_.target = target;
  std::string_view path = target.substr(0, query_ > 0 ? query_ - 1 - target_ : target.size());
  constexpr std::string_view scheme = "http://";
  if (base::starts_with_ignoring_case(path, scheme)) {
    path.remove_prefix(scheme.size());
    const std::size_t slash = path.find('/');
    head_.authority = path.substr(0, slash);
    if (!syntax::is_authority(head_.authority))
      return refuse(400, "the authority of the target is not `name` or `name:port`");
    if (slash != std::string_view::npos)
      path.remove_prefix(slash);
    else
      path = head_.method == "OPTIONS" && query_ == 0 ? "*" : "/";
  }
  head_.path = path;
  if (!path.empty() && path.front() == '/') return parsed::complete;
  if (path == "*" && head_.method == "OPTIONS" && query_ == 0) return parsed::complete;
  return refuse(400, "the target is not a path that begins with '/'");
}

// ---- responses

response_parser::response_parser(const head_limits& limits) noexcept : limits_(limits), headers_(limits) {}

void response_parser::reset() noexcept {
  headers_.reset();
  fields_ = {};
  reason_ = {};
  why_ = {};
  content_length_ = -1;
  at_ = begin_ = line_end_ = 0;
  status_ = interim_ = 0;
  minor_version_ = 1;
  body_ = framing::none;
  step_ = step::begin;
  head_request_ = saw_continue_ = false;
  keep_alive_ = true;
}

parsed response_parser::refuse(std::string_view message) noexcept {
  why_ = {502, message};
  return parsed::refused;
}

parsed response_parser::parse(char* data, std::size_t size) {
  constexpr int max_interim = 16;
  for (;;) {
    if (step_ != step::headers) {
      const parsed line = status_line(data, size);
      if (line != parsed::complete) return line;
      step_ = step::headers;
    }
    const parsed result = headers_.parse(data, size, at_);
    if (result == parsed::refused) why_ = {502, headers_.why().message};
    if (result != parsed::complete) return result;
    if (status_ >= 200 || status_ == 101) return finish(data);
    if (++interim_ > max_interim) return refuse("too many interim answers");
    if (status_ == 100) saw_continue_ = true;
    headers_.reset();
    begin_ = at_, step_ = step::begin;
  }
}

// "HTTP/1.x NNN reason"; the space before an empty reason may be missing.
parsed response_parser::status_line(const char* data, std::size_t size) {
  if (step_ == step::begin) {
    const std::size_t fixed = size - begin_ < 8 ? size - begin_ : 8;
    if (!may_be_version({data + begin_, fixed})) return refuse("the answer does not begin with a version");
    at_ = syntax::value_end(data, at_, size);
    if (at_ - begin_ > limits_.max_request_line) return refuse("the status line is too long");
    if (at_ == size) return parsed::more;
    if (data[at_] != '\r') return refuse("a control character in the status line");
    line_end_ = at_++, step_ = step::line_feed;
  }
  if (at_ == size) return parsed::more;
  if (data[at_] != '\n') return refuse("a status line that does not end in CR LF");
  ++at_;
  const std::string_view line(data + begin_, line_end_ - begin_);
  if (line.size() < 12 || line[8] != ' ' || (line.size() > 12 && line[12] != ' '))
    return refuse("a malformed status line");
  if (line.substr(0, 7) != "HTTP/1." || line[7] > '1') return refuse("an answer that is not HTTP/1.0 or HTTP/1.1");
  minor_version_ = line[7] - '0';
  const auto status = base::parse_integer<unsigned>(line.substr(9, 3));
  if (!status || *status < 100) return refuse("a malformed status");
  status_ = static_cast<int>(*status);
  return parsed::complete;
}

parsed response_parser::finish(const char* data) {
  fields_ = headers_.fields(data);
  reason_ =
      line_end_ - begin_ > 13 ? std::string_view(data + begin_ + 13, line_end_ - begin_ - 13) : std::string_view();
  const framing_fields fields(fields_);
  why_ = fields.judge(minor_version_, &body_, &content_length_);
  if (why_.status != 0) {
    why_.status = 502;
    return parsed::refused;
  }
  keep_alive_ = fields.keep_alive(minor_version_);
  if (head_request_ || status_ == 204 || status_ == 304 || status_ == 101)
    body_ = framing::none;
  else if (body_ == framing::none && content_length_ < 0)
    body_ = framing::until_close, keep_alive_ = false;
  return parsed::complete;
}

}  // namespace portico::http
