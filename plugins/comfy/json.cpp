#include "plugins/comfy/json.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <portico/response.hpp>

namespace comfy::json {
namespace {

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

// True when one of eight bytes is a quote, a backslash, a control character or not ASCII.
bool special8(const char* p) noexcept {
  std::uint64_t w;
  std::memcpy(&w, p, 8);
  constexpr std::uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
  const auto zero = [](std::uint64_t x) { return (x - ones) & ~x; };
  return ((w | zero(w ^ (ones * '"')) | zero(w ^ (ones * '\\')) | (w - ones * 0x20)) & high) != 0;
}

bool plain(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

}  // namespace

// One walk over the text (RFC 8259) that writes a node for each value.  open_ holds the containers we are inside of.
class scanner {
 public:
  scanner(document& d, limits bounds, dialect spoken) noexcept
      : d_(d),
        bounds_(bounds),
        tolerant_(spoken == dialect::tolerant),
        begin_(d.text_.data()),
        p_(begin_),
        end_(begin_ + d.text_.size()) {}

  void run() {
    if (d_.text_.size() > std::numeric_limits<std::uint32_t>::max()) return fail("the text is longer than 4 GiB");
    skip();
    while (value()) {
      // A value has ended: close what ends with it, or find the next one's beginning.
      for (;;) {
        skip();
        if (open_.empty()) return p_ == end_ ? void() : fail("something stands after the value");
        if (p_ == end_) return fail("the text ends inside an array or object");
        const bool object = top().type == kind::object;
        if (*p_ == ',') {
          ++p_;
          skip();
          if (object && !key()) return;
          break;
        }
        if (*p_ != (object ? '}' : ']')) return fail(object ? "expected , or }" : "expected , or ]");
        ++p_;
        close();
      }
    }
  }

 private:
  using node = document::node;
  node& top() { return d_.nodes_[open_.back()]; }
  std::uint32_t here() const noexcept { return static_cast<std::uint32_t>(p_ - begin_); }
  void fail(const char* what) {
    d_.error_ = what;
    d_.at_ = static_cast<std::size_t>(p_ - begin_);
  }
  bool refuse(const char* what) { return fail(what), false; }
  void skip() noexcept {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }
  bool add(kind type, std::uint32_t begin, bool coded = false) {
    const std::size_t count = d_.nodes_.size();
    if (count >= bounds_.values || count >= 0x7FFFFFFE) return refuse("too many values");
    d_.nodes_.push_back(node{begin, here(), static_cast<std::uint32_t>(count + 1) & 0x7FFFFFFFu, coded, type});
    return true;
  }
  void close() {
    top().end = here();
    top().next = static_cast<std::uint32_t>(d_.nodes_.size()) & 0x7FFFFFFFu;
    open_.pop_back();
  }

  // One value; an array or object that is not empty is left open, with p_ at its first element's value.  False: failed.
  bool value() {
    for (;;) {
      if (p_ == end_) return refuse("a value is missing");
      const std::uint32_t begin = here();
      switch (*p_) {
        case '{':
        case '[': {
          const bool object = *p_ == '{';
          if (open_.size() >= bounds_.depth) return refuse("nested too deeply");
          ++p_;
          if (!add(object ? kind::object : kind::array, begin)) return false;
          open_.push_back(static_cast<std::uint32_t>(d_.nodes_.size() - 1));
          skip();
          if (p_ != end_ && *p_ == (object ? '}' : ']')) {
            ++p_;
            close();
            return true;
          }
          if (object && !key()) return false;
          continue;
        }
        case '"':
          return string();
        case 't':
          return literal("true", kind::boolean);
        case 'f':
          return literal("false", kind::boolean);
        case 'n':
          return literal("null", kind::null);
        case 'N':
          return tolerant_ ? literal("NaN", kind::number) : refuse("not a JSON value");
        case 'I':
          return tolerant_ ? literal("Infinity", kind::number) : refuse("not a JSON value");
        case '-':
          if (tolerant_ && end_ - p_ > 1 && p_[1] == 'I') return literal("-Infinity", kind::number);
          return number();
        default:
          return number();
      }
    }
  }
  bool key() {
    if (p_ == end_ || *p_ != '"') return refuse("expected a name in quotes");
    if (!string()) return false;
    skip();
    if (p_ == end_ || *p_ != ':') return refuse("expected :");
    ++p_;
    skip();
    return true;
  }
  bool literal(std::string_view word, kind type) {
    const std::uint32_t begin = here();
    if (static_cast<std::size_t>(end_ - p_) < word.size() || std::string_view(p_, word.size()) != word)
      return refuse("not a JSON value");
    p_ += word.size();
    return add(type, begin);
  }
  bool digits() noexcept {
    if (p_ == end_ || !digit(*p_)) return false;
    while (p_ != end_ && digit(*p_)) ++p_;
    return true;
  }
  bool number() {
    const std::uint32_t begin = here();
    if (*p_ == '-') ++p_;
    if (p_ != end_ && *p_ == '0')
      ++p_;
    else if (!digits())
      return refuse("not a JSON value");
    if (p_ != end_ && *p_ == '.' && (++p_, !digits())) return refuse("a digit must follow the point");
    if (p_ != end_ && (*p_ == 'e' || *p_ == 'E')) {
      ++p_;
      if (p_ != end_ && (*p_ == '+' || *p_ == '-')) ++p_;
      if (!digits()) return refuse("a digit must follow the exponent's sign");
    }
    return add(kind::number, begin);
  }
  bool string() {
    const std::uint32_t begin = here();
    bool coded = false;
    for (++p_;;) {
      while (end_ - p_ >= 8 && !special8(p_)) p_ += 8;
      while (p_ != end_ && plain(*p_)) ++p_;
      if (p_ == end_) return refuse("the text ends inside a string");
      const auto c = static_cast<unsigned char>(*p_);
      if (c == '"') {
        ++p_;
        return add(kind::string, begin, coded);
      }
      if (c == '\\') {
        coded = true;
        if (!escape()) return false;
      } else if (c < 0x20) {
        return refuse("a control character inside a string must be escaped");
      } else {
        const std::size_t n = utf8_sequence(std::string_view(p_, static_cast<std::size_t>(end_ - p_)));
        if (!n && !tolerant_) return refuse("not UTF-8");
        if (!n) coded = true;
        p_ += n ? n : 1;
      }
    }
  }
  bool escape() {
    if (end_ - p_ < 2) return refuse("the text ends inside a string");
    if (p_[1] != 'u') {
      if (p_[1] == '\0' || !std::strchr("\"\\/bfnrt", p_[1])) return refuse("no such escape");
      p_ += 2;
      return true;
    }
    const int c = hex4(p_ + 2, end_);
    if (c < 0) return refuse("\\u needs four hexadecimal digits");
    if (c >= 0xD800 && c <= 0xDFFF && !tolerant_) {
      const int low = end_ - p_ >= 12 && p_[6] == '\\' && p_[7] == 'u' ? hex4(p_ + 8, end_) : -1;
      if (c >= 0xDC00 || low < 0xDC00 || low > 0xDFFF) return refuse("half of a surrogate pair");
      p_ += 6;
    }
    p_ += 6;
    return true;
  }

  document& d_;
  const limits bounds_;
  const bool tolerant_;
  const char* const begin_;
  const char* p_;
  const char* const end_;
  std::vector<std::uint32_t> open_;
};

document::document(std::string_view text, limits bounds, dialect spoken) : text_(text) {
  nodes_.reserve(16);
  scanner(*this, bounds, spoken).run();
}

kind value::type() const noexcept { return document_ ? document_->nodes_[index_].type : kind::absent; }

std::size_t value::offset() const noexcept { return document_ ? document_->nodes_[index_].begin : 0; }

std::string_view value::raw() const noexcept {
  if (!document_) return {};
  const auto& n = document_->nodes_[index_];
  return document_->text_.substr(n.begin, n.end - n.begin);
}

std::string value::text() const {
  if (!is_string()) return {};
  const std::string_view quoted = raw(), inside = quoted.substr(1, quoted.size() - 2);
  return document_->nodes_[index_].coded ? unescape(inside) : std::string(inside);
}

bool value::equals(std::string_view characters) const {
  if (!is_string()) return false;
  if (document_->nodes_[index_].coded) return text() == characters;
  const std::string_view quoted = raw();
  return quoted.substr(1, quoted.size() - 2) == characters;
}

bool value::truth() const noexcept { return type() == kind::boolean && raw() == "true"; }

std::optional<std::int64_t> value::integer() const noexcept {
  if (type() != kind::number) return std::nullopt;
  const std::string_view s = raw();
  std::int64_t n = 0;
  const auto [stop, problem] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (problem != std::errc() || stop != s.data() + s.size()) return std::nullopt;
  return n;
}

std::optional<double> value::number() const noexcept {
  if (type() != kind::number) return std::nullopt;
  const std::string_view s = raw();
  double n = 0;
  const auto [stop, problem] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (problem != std::errc() || stop != s.data() + s.size() || !std::isfinite(n)) return std::nullopt;
  return n;
}

std::size_t value::size() const noexcept {
  std::size_t n = 0;
  if (is_array())
    for ([[maybe_unused]] const value e : elements()) ++n;
  else
    for ([[maybe_unused]] const member m : members()) ++n;
  return n;
}

value value::operator[](std::string_view key) const {
  value found;
  for (const member m : members())
    if (m.key.equals(key)) found = m.content;
  return found;
}

value value::at(std::size_t index) const noexcept {
  for (const value e : elements())
    if (index-- == 0) return e;
  return {};
}

element_range value::elements() const noexcept {
  return is_array() ? element_range(document_, index_ + 1, document_->nodes_[index_].next)
                    : element_range(nullptr, 0, 0);
}

member_range value::members() const noexcept {
  return is_object() ? member_range(document_, index_ + 1, document_->nodes_[index_].next)
                     : member_range(nullptr, 0, 0);
}

void append(std::string& out, const value& v) {
  bool first = true;
  const auto comma = [&] {
    if (!std::exchange(first, false)) out += ',';
  };
  switch (v.type()) {
    case kind::string:
      return portico::append_json_string(out, v.text());
    case kind::array:
      out += '[';
      for (const value e : v.elements()) comma(), append(out, e);
      out += ']';
      return;
    case kind::object:
      out += '{';
      for (const member m : v.members()) {
        comma();
        append(out, m.key);
        out += ':';
        append(out, m.content);
      }
      out += '}';
      return;
    case kind::number: {
      const char last = v.raw().back();
      out.append(last == 'N' || last == 'y' ? std::string_view("null") : v.raw());
      return;
    }
    case kind::boolean:
      out.append(v.raw());
      return;
    case kind::null:
    case kind::absent:
      out += "null";
  }
}

}  // namespace comfy::json
