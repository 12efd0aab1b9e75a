// plugins/uploads/multipart.hpp - reads multipart/form-data (RFC 7578) as it arrives, without doing any input itself.
//
//   multipart parser(boundary);
//   parser.feed(bytes);
//   while (step s = parser.next(); s != step::more) ...      // then feed the next bytes; at the end ask done()
//
// It holds the headers of one part (at most 16 KiB) and nothing of any part's content.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portico::uploads {

// The boundary in a Content-Type header.  Nothing, and *why for people, when it is another type, or the parameter is
// absent, given twice, not 1 to 70 characters long, or holds a character that RFC 2046 does not allow.
std::optional<std::string> boundary_of(std::string_view content_type, const char** why);

class multipart {
 public:
  static constexpr std::size_t max_parts = 64;
  static constexpr std::size_t max_headers = 16 * 1024;   // bytes of one part's header lines
  static constexpr std::size_t max_preamble = 16 * 1024;  // bytes before the first boundary

  enum class step {
    more,    // all that was fed is used up
    part,    // a part begins: name() and content_type() are its
    data,    // the next bytes of the part's content: data()
    failed,  // error() says why; nothing else comes
  };

  explicit multipart(std::string_view boundary);

  // The bytes are borrowed until next() has returned step::more.
  void feed(std::string_view bytes) noexcept { rest_ = bytes; }
  step next();

  // True once the closing boundary has been read.  What follows it is ignored.
  bool done() const noexcept { return state_ == state::epilogue; }

  const std::string& name() const noexcept { return name_; }
  const std::string& content_type() const noexcept { return content_type_; }  // empty: not said
  std::string_view data() const noexcept { return data_; }                    // valid until the next call of anything
  const char* error() const noexcept { return error_; }                       // a literal

 private:
  enum class state { preamble, content, after_boundary, closing_dash, padding, line_feed, headers, epilogue, failed };

  step fail(const char* why) noexcept;
  step scan();
  step found_content() noexcept;
  std::size_t next_delimiter() const noexcept;
  bool after_boundary();
  step headers();
  const char* read_headers();
  const char* read_disposition(std::string_view value);

  std::string delimiter_;    // CR LF "--" boundary
  std::size_t matched_ = 2;  // how much of it the bytes so far end with
  std::size_t assumed_ = 2;  // how much of what is matched was not in the bytes: the line end before a first boundary
  state state_ = state::preamble;
  std::string_view rest_, data_;
  std::string block_;  // of header lines, as far as it has arrived
  std::string name_, content_type_;
  std::size_t parts_ = 0, skipped_ = 0;
  const char* error_ = nullptr;
};

}  // namespace portico::uploads
