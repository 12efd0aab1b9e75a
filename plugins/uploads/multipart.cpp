#include "plugins/uploads/multipart.hpp"

#include <algorithm>
#include <cstring>

#include "plugins/uploads/header_text.hpp"

namespace portico::uploads {

std::optional<std::string> boundary_of(std::string_view content_type, const char** why) {
  const auto refuse = [&](const char* text) { return *why = text, std::nullopt; };
  header_parameters parameters(content_type);
  if (!same_ignoring_case(parameters.value(), "multipart/form-data"))
    return refuse("the content type must be multipart/form-data");
  std::optional<std::string> boundary;
  while (parameters.next()) {
    if (!same_ignoring_case(parameters.name(), "boundary")) continue;
    if (boundary) return refuse("the content type names two boundaries");
    boundary = parameters.text();
  }
  if (parameters.broken()) return refuse("the parameters of the content type cannot be read");
  if (!boundary) return refuse("the content type names no boundary");
  if (boundary->empty() || boundary->size() > 70) return refuse("the boundary must have 1 to 70 characters");
  constexpr std::string_view allowed = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'()+_,-./:=? ";
  if (boundary->find_first_not_of(allowed) != std::string::npos || boundary->back() == ' ')
    return refuse("the boundary holds a character that is not allowed there");
  return boundary;
}

multipart::multipart(std::string_view boundary) : delimiter_("\r\n--") { delimiter_ += boundary; }

multipart::step multipart::next() {
  for (;;) {
    if (state_ == state::failed) return step::failed;
    if (state_ == state::epilogue) rest_ = {};
    if (rest_.empty()) return step::more;
    switch (state_) {
      case state::preamble:
      case state::content: {
        const step s = scan();
        if (s != step::more) return s;
        break;
      }
      case state::headers: {
        const step s = headers();
        if (s != step::more) return s;
        break;
      }
      default:
        if (!after_boundary()) return fail("a boundary is followed by something else than a line end");
    }
  }
}

multipart::step multipart::fail(const char* why) noexcept {
  state_ = state::failed;
  error_ = why;
  return step::failed;
}

// Content up to the next boundary.  A delimiter's only CR is its first character.  So where a match breaks off, the
// bytes matched so far are content, and a new match can begin only with the byte at hand.  They need not be kept: they
// are the beginning of the delimiter.
multipart::step multipart::scan() {
  if (matched_ == 0) {
    data_ = rest_.substr(0, next_delimiter());
    rest_.remove_prefix(data_.size());
    if (!data_.empty()) return found_content();
  }
  while (matched_ < delimiter_.size() && !rest_.empty() && rest_.front() == delimiter_[matched_]) {
    rest_.remove_prefix(1);
    ++matched_;
  }
  if (matched_ == delimiter_.size()) {
    matched_ = assumed_ = 0;
    state_ = state::after_boundary;
    return step::more;
  }
  if (rest_.empty()) return step::more;
  data_ = std::string_view(delimiter_).substr(assumed_, matched_ - assumed_);
  matched_ = assumed_ = 0;
  return data_.empty() ? step::more : found_content();
}

multipart::step multipart::found_content() noexcept {
  if (state_ == state::content) return step::data;
  skipped_ += data_.size();
  return skipped_ > max_preamble ? fail("more than 16 KiB come before the first boundary") : step::more;
}

// Where in the rest a delimiter begins, or its beginning that is cut off by the end; else the end.
std::size_t multipart::next_delimiter() const noexcept {
  const char *const begin = rest_.data(), *const end = begin + rest_.size();
  for (const char* at = begin; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '\r', static_cast<std::size_t>(end - at)));
    if (!at) break;
    while (at + 1 < end && at[1] == '\r') ++at;   // a run of them must not cost a search each
    if (at + 1 < end && at[1] != '\n') continue;  // the usual case in what is not text
    const std::size_t length = std::min(delimiter_.size(), static_cast<std::size_t>(end - at));
    if (std::memcmp(at, delimiter_.data(), length) == 0) return static_cast<std::size_t>(at - begin);
  }
  return rest_.size();
}

// One character of what may follow a boundary: "--", or blanks and a line end.
bool multipart::after_boundary() {
  const char c = rest_.front();
  rest_.remove_prefix(1);
  switch (state_) {
    case state::after_boundary:
      if (c == '-') return state_ = state::closing_dash, true;
      [[fallthrough]];
    case state::padding:
      if (c == ' ' || c == '\t') return state_ = state::padding, true;
      if (c != '\r') return false;
      return state_ = state::line_feed, true;
    case state::closing_dash:
      if (c != '-') return false;
      return state_ = state::epilogue, true;
    default:
      if (c != '\n') return false;
      block_.clear();
      return state_ = state::headers, true;
  }
}

multipart::step multipart::headers() {
  // The block ends with an empty line; one that begins with it has no headers.
  const std::size_t had = block_.size();
  const std::size_t room = max_headers + 4 - had;
  block_.append(rest_.substr(0, room));
  std::size_t end = block_.starts_with("\r\n") ? 0 : block_.find("\r\n\r\n", had < 3 ? 0 : had - 3);
  if (end == std::string::npos) {
    if (block_.size() >= max_headers + 4) return fail("the header lines of a part are longer than 16 KiB");
    rest_ = {};
    return step::more;
  }
  const std::size_t block_end = end + (end == 0 ? 2 : 4);
  rest_.remove_prefix(block_end - had);
  block_.resize(end);
  if (++parts_ > max_parts) return fail("the form has more than 64 parts");
  if (const char* why = read_headers()) return fail(why);
  state_ = state::content;
  matched_ = assumed_ = 2;  // an empty part's boundary may follow its headers at once
  return step::part;
}

const char* multipart::read_headers() {
  name_.clear();
  content_type_.clear();
  bool disposed = false, typed = false;
  for (std::string_view rest = block_; !rest.empty();) {
    const std::size_t end = std::min(rest.find("\r\n"), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos)
      return "a header line of a part holds a control character";
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return "a header line of a part has no name";
    const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    if (same_ignoring_case(name, "content-disposition")) {
      if (disposed) return "a part has two Content-Disposition headers";
      disposed = true;
      if (const char* why = read_disposition(value)) return why;
    } else if (same_ignoring_case(name, "content-type")) {
      if (typed) return "a part has two Content-Type headers";
      typed = true;
      content_type_ = value;
    } else if (same_ignoring_case(name, "content-transfer-encoding")) {
      if (!same_ignoring_case(value, "binary") && !same_ignoring_case(value, "8bit") &&
          !same_ignoring_case(value, "7bit"))
        return "a part has a Content-Transfer-Encoding; send its bytes as they are";
    }
  }
  return disposed ? nullptr : "a part has no Content-Disposition header";
}

// Only the name is read, and nothing behind it: clients write file names in ways that cannot be taken apart, and the
// name of the part's file decides nothing here.
const char* multipart::read_disposition(std::string_view value) {
  header_parameters parameters(value);
  if (!same_ignoring_case(parameters.value(), "form-data")) return "the Content-Disposition of a part is not form-data";
  while (parameters.next()) {
    if (!same_ignoring_case(parameters.name(), "name")) continue;
    name_ = parameters.text();
    return nullptr;
  }
  return "the Content-Disposition of a part has no name";
}

}  // namespace portico::uploads
