#include "core/http/parser.hpp"
#include "core/http/syntax.hpp"

namespace portico::http {

header_block::header_block(const head_limits& limits) noexcept : limits_(limits) {}

void header_block::reset() noexcept {
  entries_.clear();
  why_ = {};
  step_ = step::line;
  started_ = false;
}

parsed header_block::refuse(int status, std::string_view message) noexcept {
  why_ = {status, message};
  return parsed::refused;
}

parsed header_block::over_limit(std::size_t at) noexcept {
  if (at - line_ > limits_.max_header_line) return refuse(431, "a header is longer than this server allows");
  if (at - begin_ > limits_.max_header_bytes) return refuse(431, "the headers are longer than this server allows");
  return parsed::more;
}

void header_block::end_value(const char* data, std::size_t at) {
  while (at > value_ && (data[at - 1] == ' ' || data[at - 1] == '\t')) --at;
  entries_.back().value = static_cast<std::uint32_t>(value_);
  entries_.back().value_size = static_cast<std::uint32_t>(at - value_);
}

parsed header_block::parse(char* data, std::size_t size, std::size_t& at) {
  if (!started_) begin_ = line_ = at, started_ = true;
  for (;;) {
    switch (step_) {
      case step::line:
        if (at == size) return parsed::more;
        if (data[at] == '\r') {
          ++at, step_ = step::last_line_feed;
          break;
        }
        if (data[at] == ' ' || data[at] == '\t') return refuse(400, "a header may not be folded over lines");
        if (entries_.size() == limits_.max_headers) return refuse(431, "more headers than this server allows");
        line_ = at, step_ = step::name;
        [[fallthrough]];
      case step::name: {
        std::size_t p = at;
        for (char c; p < size && (c = syntax::of(syntax::name_char, data[p])) != 0; ++p) data[p] = c;
        at = p;
        if (over_limit(at) == parsed::refused) return parsed::refused;
        if (at == size) return parsed::more;
        if (data[at] != ':' || at == line_) return refuse(400, "a header is not `name: value`");
        entries_.push_back({static_cast<std::uint32_t>(line_), static_cast<std::uint32_t>(at - line_), 0, 0});
        ++at, step_ = step::space;
        [[fallthrough]];
      }
      case step::space:
        while (at < size && (data[at] == ' ' || data[at] == '\t')) ++at;
        if (over_limit(at) == parsed::refused) return parsed::refused;
        if (at == size) return parsed::more;
        value_ = at, step_ = step::value;
        [[fallthrough]];
      case step::value:
        at = syntax::value_end(data, at, size);
        if (over_limit(at) == parsed::refused) return parsed::refused;
        if (at == size) return parsed::more;
        if (data[at] != '\r')
          return refuse(400, "a control character in a header, or a line that does not end in CR LF");
        end_value(data, at);
        ++at, step_ = step::line_feed;
        [[fallthrough]];
      case step::line_feed:
        if (at == size) return parsed::more;
        if (data[at] != '\n') return refuse(400, "a line that does not end in CR LF");
        ++at, step_ = step::line;
        break;
      case step::last_line_feed:
        if (at == size) return parsed::more;
        if (data[at] != '\n') return refuse(400, "a line that does not end in CR LF");
        ++at;
        return parsed::complete;
    }
  }
}

std::span<const field> header_block::fields(const char* data) {
  fields_.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const entry& e = entries_[i];
    fields_[i] = {{data + e.name, e.name_size}, {data + e.value, e.value_size}};
  }
  return fields_;
}

}  // namespace portico::http
