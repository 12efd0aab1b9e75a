#include "plugins/model_upload/json_source.hpp"

#include <algorithm>
#include <limits>

namespace portico::model_upload {
namespace {

constexpr std::size_t piece = 64 * 1024;
constexpr std::uint64_t hash_start = 14695981039346656037ull, hash_factor = 1099511628211ull;  // FNV-1a

bool is_space(int c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(int c) noexcept { return c >= '0' && c <= '9'; }

std::string shown(int c) {
  if (c < 0) return "the end";
  if (c > 0x20 && c < 0x7F) return std::string("'") + static_cast<char>(c) + "'";
  return "byte " + std::to_string(c);
}

}  // namespace

json_source::json_source(const file_reader& read, std::uint64_t offset, std::uint64_t length)
    : read_(read), start_(offset), offset_(offset), end_(offset + length), buffer_(piece) {}

void json_source::fail(const std::string& what) const {
  throw json_fault("header_json", "the header is not good JSON: " + what + " at byte " + std::to_string(position()));
}

void json_source::fill() {
  offset_ += filled_;
  at_ = 0;
  const std::uint64_t left = end_ - offset_;
  filled_ = left ? read_(offset_, buffer_.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, piece))) : 0;
}

int json_source::peek() {
  if (at_ == filled_) fill();
  return at_ < filled_ ? static_cast<unsigned char>(buffer_[at_]) : -1;
}

int json_source::get() {
  const int c = peek();
  if (c >= 0) ++at_;
  return c;
}

char json_source::ahead() {
  while (is_space(peek())) ++at_;
  return static_cast<char>(std::max(peek(), 0));
}

bool json_source::take(char c) {
  if (ahead() != c || peek() < 0) return false;
  ++at_;
  return true;
}

void json_source::expect(char c) {
  if (!take(c)) fail(std::string("'") + c + "' expected, " + shown(peek()) + " found");
}

void json_source::end() {
  ahead();
  if (peek() >= 0) fail("the object has ended, but " + shown(peek()) + " follows");
}

void json_source::keep(unsigned char c, std::string& out, std::size_t max, std::uint64_t& hash) {
  hash = (hash ^ c) * hash_factor;
  if (out.size() < max) out += static_cast<char>(c);
}

std::string json_source::string(std::size_t max, std::uint64_t* hash) {
  expect('"');
  std::string out;
  std::uint64_t sum = hash_start;
  for (;;) {
    const int c = get();
    if (c < 0) fail("a string has no end");
    if (c == '"') break;
    if (c < 0x20) fail("a string holds a raw control character");
    if (c == '\\')
      escape(out, max, sum);
    else if (c < 0x80)
      keep(static_cast<unsigned char>(c), out, max, sum);
    else
      sequence(static_cast<unsigned char>(c), out, max, sum);
  }
  if (hash) *hash = sum;
  return out;
}

// A character of several bytes (Unicode 15, table 3-7).
void json_source::sequence(unsigned char first, std::string& out, std::size_t max, std::uint64_t& hash) {
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  unsigned char low = 0x80, high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  if (first < 0xC2 || first > 0xF4) fail("a string is not UTF-8");
  keep(first, out, max, hash);
  for (int i = 0; i < more; ++i, low = 0x80, high = 0xBF) {
    const int c = get();
    if (c < low || c > high) fail("a string is not UTF-8");
    keep(static_cast<unsigned char>(c), out, max, hash);
  }
}

void json_source::escape(std::string& out, std::size_t max, std::uint64_t& hash) {
  const auto put = [&](unsigned c) { keep(static_cast<unsigned char>(c), out, max, hash); };
  switch (const int c = get()) {
    case '"':
    case '\\':
    case '/':
      return put(static_cast<unsigned>(c));
    case 'b':
      return put('\b');
    case 'f':
      return put('\f');
    case 'n':
      return put('\n');
    case 'r':
      return put('\r');
    case 't':
      return put('\t');
    case 'u':
      break;
    default:
      fail("a string holds an unknown escape");
  }
  std::uint32_t c = hex4();
  if (c >= 0xDC00 && c <= 0xDFFF) fail("a string holds half of a surrogate pair");
  if (c >= 0xD800 && c <= 0xDBFF) {
    if (get() != '\\' || get() != 'u') fail("a string holds half of a surrogate pair");
    const std::uint32_t second = hex4();
    if (second < 0xDC00 || second > 0xDFFF) fail("a string holds half of a surrogate pair");
    c = 0x10000 + ((c - 0xD800) << 10) + (second - 0xDC00);
  }
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 63));
  if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
}

unsigned json_source::hex4() {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = get(), lower = c | 32;
    if (is_digit(c))
      value = value * 16 + static_cast<unsigned>(c - '0');
    else if (lower >= 'a' && lower <= 'f' && c >= 0)
      value = value * 16 + static_cast<unsigned>(lower - 'a' + 10);
    else
      fail("a string holds a broken \\u escape");
  }
  return value;
}

std::uint64_t json_source::number() {
  ahead();
  if (!is_digit(peek())) fail("a whole number expected, " + shown(peek()) + " found");
  std::uint64_t value = 0;
  const bool zero = peek() == '0';
  std::size_t count = 0;
  for (; is_digit(peek()); ++count) {
    const auto digit = static_cast<std::uint64_t>(get() - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10)
      throw json_fault("overflow",
                       "a number in the header is larger than 64 bits hold, at byte " + std::to_string(position()));
    value = value * 10 + digit;
  }
  if (zero && count > 1) fail("a number begins with a zero");
  if (const int c = peek(); c == '.' || c == 'e' || c == 'E')
    fail("a whole number expected, a fraction or exponent found");
  return value;
}

void json_source::literal(std::string_view text) {
  ahead();
  for (const char c : text)
    if (get() != c) fail("'" + std::string(text) + "' expected");
}

void json_source::digits() {
  if (!is_digit(peek())) fail("a digit expected, " + shown(peek()) + " found");
  while (is_digit(peek())) ++at_;
}

void json_source::skip_number() {
  if (peek() == '-') ++at_;
  if (peek() == '0')
    ++at_;
  else
    digits();
  if (peek() == '.') ++at_, digits();
  if (peek() != 'e' && peek() != 'E') return;
  ++at_;
  if (peek() == '+' || peek() == '-') ++at_;
  digits();
}

// Without recursion: what is open is one bit for each level, true for an object.
void json_source::skip() {
  constexpr std::size_t above = 2;  // levels: the header, and the tensor whose member this is
  std::vector<bool> open;
  for (bool value_next = true;;) {
    if (value_next) {
      const char c = ahead();
      value_next = false;
      if (c == '{' || c == '[') {
        if (open.size() + above >= max_depth) throw json_fault("depth", "the header is nested deeper than 127 levels");
        ++at_;
        open.push_back(c == '{');
        if (take(c == '{' ? '}' : ']'))
          open.pop_back();
        else if (c == '{')
          string(0), expect(':'), value_next = true;
        else
          value_next = true;
      } else if (c == '"')
        string(0);
      else if (c == 't')
        literal("true");
      else if (c == 'f')
        literal("false");
      else if (c == 'n')
        literal("null");
      else if (c == '-' || is_digit(c))
        skip_number();
      else
        fail("a value expected, " + shown(peek()) + " found");
      if (value_next) continue;
    }
    if (open.empty()) return;
    if (take(',')) {
      if (open.back()) string(0), expect(':');
      value_next = true;
    } else {
      expect(open.back() ? '}' : ']');
      open.pop_back();
    }
  }
}

}  // namespace portico::model_upload
