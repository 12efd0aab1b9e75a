// plugins/uploads/byte_range.hpp - the Range header of RFC 9110, for one range.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portico::uploads {

// "first-last", "first-" (last is the largest number), or, when from_end is set, the final `last` bytes.
struct byte_range {
  std::uint64_t first = 0, last = 0;
  bool from_end = false;
};

// A part of a body of known size.  length is 0 only when nothing of the range lies in it, which is a 416.
struct byte_span {
  std::uint64_t offset = 0, length = 0;
};

// Nothing when the header is to be ignored: absent, another unit, malformed, last before first, or several ranges (a
// server may always answer those with the whole).  Numbers too large for the file system stand for the largest.
std::optional<byte_range> parse_range(std::string_view header);

byte_span span_of(const byte_range&, std::uint64_t size) noexcept;

// The header's value again in its plainest spelling.  An empty range at the end ("-0") is written as one that lies
// behind every file, because servers read "-0" in different ways.
std::string to_header(const byte_range&);

}  // namespace portico::uploads
