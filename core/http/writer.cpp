#include "core/http/writer.hpp"

#include <charconv>
#include <cstring>
#include <ctime>

#include "core/base/text.hpp"
#include "core/http/syntax.hpp"

namespace portico::http {

namespace {

char* put(char* to, std::string_view s) noexcept {
  if (!s.empty()) std::memcpy(to, s.data(), s.size());
  return to + s.size();
}

char* put_two(char* to, int n) noexcept {
  *to++ = static_cast<char>('0' + n / 10 % 10);
  *to++ = static_cast<char>('0' + n % 10);
  return to;
}

char* put(char* to, std::span<const field> fields) noexcept {
  for (const field& f : fields) {
    to = put(to, f.name);
    to = put(to, ": ");
    to = put(to, f.value);
    to = put(to, "\r\n");
  }
  return to;
}

std::size_t size_of(std::span<const field> fields) noexcept {
  std::size_t n = 0;
  for (const field& f : fields) n += f.name.size() + f.value.size() + 4;
  return n;
}

// The fields of a day, from a count of days since 1970 (Hinnant's civil_from_days).
struct day {
  int year, month, of_month, of_week;
  explicit day(std::int64_t since_1970) noexcept {
    of_week = static_cast<int>((since_1970 + 4) % 7);
    const std::int64_t z = since_1970 + 719468;
    const std::int64_t era = z / 146097, of_era = z - era * 146097;
    const std::int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t m = (5 * of_year + 2) / 153;
    of_month = static_cast<int>(of_year - (153 * m + 2) / 5 + 1);
    month = static_cast<int>(m < 10 ? m + 3 : m - 9);
    year = static_cast<int>(year_of_era + era * 400) + (month <= 2 ? 1 : 0);
  }
};

}  // namespace

std::string_view date_line::at(std::chrono::steady_clock::time_point now) noexcept {
  using namespace std::chrono;
  if (now >= until_) {
    const auto wall = system_clock::now().time_since_epoch();
    const std::int64_t seconds = duration_cast<std::chrono::seconds>(wall).count();
    until_ = now + duration_cast<steady_clock::duration>(std::chrono::seconds(seconds + 1) - wall);
    const day d(seconds / 86400);
    const int clock = static_cast<int>(seconds % 86400);
    constexpr std::string_view days = "SunMonTueWedThuFriSat", months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char* p = put(text_.data(), "Date: ");
    p = put(p, days.substr(static_cast<std::size_t>(d.of_week) * 3, 3));
    p = put(p, ", ");
    p = put_two(p, d.of_month);
    *p++ = ' ';
    p = put(p, months.substr(static_cast<std::size_t>(d.month - 1) * 3, 3));
    *p++ = ' ';
    p = put_two(p, d.year / 100);
    p = put_two(p, d.year % 100);
    *p++ = ' ';
    p = put_two(p, clock / 3600);
    *p++ = ':';
    p = put_two(p, clock / 60 % 60);
    *p++ = ':';
    p = put_two(p, clock % 60);
    put(p, " GMT\r\n");
  }
  return {text_.data(), text_.size()};
}

namespace {

struct phrase {
  int status;
  std::string_view text;
};
// The most frequent first.
constexpr phrase phrases[] = {
    {200, "OK"},
    {101, "Switching Protocols"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

}  // namespace

std::string_view reason_phrase(int status) noexcept {
  for (const phrase& p : phrases)
    if (p.status == status) return p.text;
  return {};
}

bool may_send(std::span<const field> fields) noexcept {
  for (const field& f : fields) {
    if (!syntax::is_token(f.name) || !syntax::is_value(f.value)) return false;
    switch (f.name.size()) {
      case 4:
        if (base::equal_ignoring_case(f.name, "date")) return false;
        break;
      case 10:
        if (base::equal_ignoring_case(f.name, "connection")) return false;
        break;
      case 14:
        if (base::equal_ignoring_case(f.name, "content-length")) return false;
        break;
      case 17:
        if (base::equal_ignoring_case(f.name, "transfer-encoding")) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

void append_head(buffer& out, const response_head& head) {
  constexpr std::size_t fixed = 176;  // the status line without its phrase, and the engine's own lines
  const std::string_view phrase = reason_phrase(head.status);
  const std::size_t most = fixed + phrase.size() + head.date.size() + head.lines.size() + head.request_id.size() +
                           size_of(head.headers) + head.connection.size();
  char* const begin = out.room(most).data();
  char* p = put(begin, "HTTP/1.1 ");
  *p++ = static_cast<char>('0' + head.status / 100);
  p = put_two(p, head.status % 100);
  *p++ = ' ';
  p = put(p, phrase);
  p = put(p, "\r\n");
  p = put(p, head.date);
  p = put(p, head.lines);
  if (!head.request_id.empty()) {
    p = put(p, "X-Request-Id: ");
    p = put(p, head.request_id);
    p = put(p, "\r\n");
  }
  p = put(p, head.headers);
  if (head.content_length >= 0) {
    p = put(p, "Content-Length: ");
    p = std::to_chars(p, p + 20, head.content_length).ptr;
    p = put(p, "\r\n");
  }
  if (head.chunked) p = put(p, "Transfer-Encoding: chunked\r\n");
  if (!head.connection.empty()) {
    p = put(p, "Connection: ");
    p = put(p, head.connection);
    p = put(p, "\r\n");
  }
  p = put(p, "\r\n");
  out.added(static_cast<std::size_t>(p - begin));
}

std::string_view error_code(int status) noexcept {
  constexpr phrase codes[] = {{400, "invalid_request"}, {408, "request_timeout"},           {413, "payload_too_large"},
                              {414, "uri_too_long"},    {417, "expectation_failed"},        {431, "headers_too_large"},
                              {501, "not_implemented"}, {505, "http_version_not_supported"}};
  for (const phrase& p : codes)
    if (p.status == status) return p.text;
  return "internal";
}

std::string error_envelope(std::string_view code, std::string_view message) {
  std::string json = R"({"error":{"code":")";
  base::append_json(json, code);
  json += R"(","message":")";
  base::append_json(json, message);
  json += R"(","details":null}})";
  return json;
}

void append_line(std::string& to, std::string_view name, std::string_view value) {
  to.append(name).append(": ").append(value).append("\r\n");
}

void append_request_head(buffer& out, std::string_view method, std::string_view target,
                         std::span<const field> headers) {
  char* const begin = out.room(method.size() + target.size() + size_of(headers) + 16).data();
  char* p = put(begin, method);
  *p++ = ' ';
  p = put(p, target);
  p = put(p, " HTTP/1.1\r\n");
  p = put(p, headers);
  p = put(p, "\r\n");
  out.added(static_cast<std::size_t>(p - begin));
}

chunk_prefix::chunk_prefix(std::size_t size) noexcept {
  std::size_t at = text_.size();
  text_[--at] = '\n';
  text_[--at] = '\r';
  do {
    text_[--at] = "0123456789abcdef"[size % 16];
    size /= 16;
  } while (size > 0);
  begin_ = at;
}

}  // namespace portico::http
