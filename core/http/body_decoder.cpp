#include <algorithm>

#include "core/base/text.hpp"
#include "core/http/parser.hpp"
#include "core/http/syntax.hpp"

namespace portico::http {

namespace {
constexpr std::size_t max_size_digits = 15;  // far below what a 64-bit count holds
}

body_decoder::body_decoder(const head_limits& limits) noexcept : limits_(limits) {}

void body_decoder::start(framing f, std::int64_t content_length) noexcept {
  why_ = {};
  left_ = 0;
  overhead_ = digits_ = 0;
  switch (f) {
    case framing::none:
      step_ = step::complete;
      break;
    case framing::length:
      left_ = static_cast<std::uint64_t>(content_length);
      step_ = left_ > 0 ? step::length : step::complete;
      break;
    case framing::chunked:
      step_ = step::size;
      break;
    case framing::until_close:
      step_ = step::until_close;
      break;
  }
}

bool body_decoder::refuse(int status, std::string_view message) noexcept {
  why_ = {status, message};
  step_ = step::refused;
  return false;
}

std::size_t body_decoder::wants() const noexcept {
  if (step_ == step::complete || step_ == step::refused) return 0;
  if (step_ != step::length) return SIZE_MAX;
  return static_cast<std::size_t>(std::min<std::uint64_t>(left_, SIZE_MAX));
}

bool body_decoder::end_of_input() noexcept {
  if (step_ == step::until_close) step_ = step::complete;
  return step_ == step::complete;
}

std::string_view body_decoder::next(std::span<char>& input, std::size_t max) {
  while (!input.empty()) {
    switch (step_) {
      case step::complete:
      case step::refused:
        return {};
      case step::length:
      case step::until_close:
      case step::data: {
        std::size_t n = std::min(input.size(), max);
        if (step_ != step::until_close) {
          n = static_cast<std::size_t>(std::min<std::uint64_t>(n, left_));
          left_ -= n;
          if (left_ == 0) step_ = step_ == step::length ? step::complete : step::data_return;
        }
        const std::string_view piece(input.data(), n);
        input = input.subspan(n);
        return piece;
      }
      default: {
        const char c = input.front();
        input = input.subspan(1);
        if (step_ >= step::line ? !trailer_byte(c) : !framing_byte(c)) return {};
      }
    }
  }
  return {};
}

// Between the pieces of a chunked body.
bool body_decoder::framing_byte(char c) {
  switch (step_) {
    case step::size: {
      const int digit = base::hex_value(c);
      if (digit >= 0) {
        if (++digits_ > max_size_digits) return refuse(400, "a chunk size with too many digits");
        left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
        return true;
      }
      if (digits_ == 0 || (c != ';' && c != '\r')) return refuse(400, "a chunk size that is not a hexadecimal number");
      step_ = c == ';' ? step::extension : step::size_line_feed;
      return true;
    }
    case step::extension:
      if (++overhead_ > limits_.max_header_line) return refuse(400, "chunk extensions longer than this server allows");
      if (c == '\r')
        step_ = step::size_line_feed;
      else if (base::is_control(c) && c != '\t')
        return refuse(400, "a control character in a chunk extension");
      return true;
    case step::data_return:
      if (c != '\r') return refuse(400, "a chunk longer than its size");
      step_ = step::data_line_feed;
      return true;
    default:
      if (c != '\n') return refuse(400, "a line that does not end in CR LF");
      if (step_ == step::data_line_feed) {
        step_ = step::size, left_ = 0, digits_ = 0;
      } else {
        step_ = left_ > 0 ? step::data : step::line;
      }
      return true;
  }
}

bool body_decoder::trailer_byte(char c) {
  if (++overhead_ > limits_.max_header_bytes) return refuse(431, "the trailers are longer than this server allows");
  switch (step_) {
    case step::line:
      if (c == '\r') {
        step_ = step::last_line_feed;
        return true;
      }
      step_ = step::name;
      if (c == ':') return refuse(400, "a trailer is not `name: value`");
      [[fallthrough]];
    case step::name:
      if (c == ':')
        step_ = step::value;
      else if (!syntax::of(syntax::name_char, c))
        return refuse(400, "a trailer is not `name: value`");
      return true;
    case step::value:
      if (c == '\r')
        step_ = step::trailer_line_feed;
      else if (base::is_control(c) && c != '\t')
        return refuse(400, "a control character in a trailer");
      return true;
    default:
      if (c != '\n') return refuse(400, "a line that does not end in CR LF");
      step_ = step_ == step::last_line_feed ? step::complete : step::line;
      return true;
  }
}

}  // namespace portico::http
