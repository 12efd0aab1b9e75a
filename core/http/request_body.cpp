#include "core/http/request_body.hpp"

#include <algorithm>

namespace portico::http {

void request_body::start(framing f, std::int64_t content_length, std::size_t head_size) noexcept {
  decoder_.start(f, content_length);
  at_ = head_size;
  untouched_ = true;
}

std::string_view request_body::take(std::size_t max) {
  if (complete() || refused()) return {};
  if (unread_in() > 0) {
    std::span<char> input(in_.data() + at_, unread_in());
    const std::string_view piece = decoder_.next(input, max);
    at_ = in_.size() - input.size();
    untouched_ = false;
    if (!piece.empty() || complete() || refused()) return piece;
  }
  if (more_.empty()) return {};
  std::span<char> input(more_.data(), more_.size());
  const std::string_view piece = decoder_.next(input, max);
  more_.consume(more_.size() - input.size());
  untouched_ = false;
  return piece;
}

std::span<char> request_body::room(std::size_t max) {
  constexpr std::size_t usual = 64 * 1024, most = 1024 * 1024;
  const std::size_t wanted = std::clamp(max == 0 ? usual : max, buffer_pool::block, most);
  const std::size_t useful = std::min(wanted, decoder_.wants());
  return more_.room(useful).first(useful);
}

bool request_body::within_reach() {
  if (complete()) return true;
  // The decoder changes nothing of what it reads and a copy of it is cheap, so one may run ahead.
  body_decoder ahead = decoder_;
  for (std::span<char> input : {std::span(in_.data() + at_, unread_in()), std::span(more_.data(), more_.size())})
    while (!input.empty() && !ahead.complete() && !ahead.refused()) ahead.next(input, SIZE_MAX);
  return ahead.complete();
}

std::string_view request_body::take_raw(std::size_t max) noexcept {
  if (unread_in() > 0) {
    const std::string_view piece(in_.data() + at_, std::min(max, unread_in()));
    at_ += piece.size();
    return piece;
  }
  const std::string_view piece = more_.view().substr(0, max);
  more_.consume(piece.size());
  return piece;
}

bool request_body::finish() {
  while (!complete() && !refused() && (unread_in() > 0 || !more_.empty())) take(SIZE_MAX);
  in_.consume(at_);
  at_ = 0;
  if (!more_.empty()) in_.append(more_.view());
  more_.release();
  return complete();
}

}  // namespace portico::http
