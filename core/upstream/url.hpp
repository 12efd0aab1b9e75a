// core/upstream/url.hpp - the parts of the address of a call.  Pure, any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace portico::upstream {

// Views into the text it was parsed from.
struct url {
  std::string_view user_info;  // percent-encoded "user:password"; may be empty
  std::string_view authority;  // "host" or "host:port", IPv6 in brackets: what the Host header says
  std::string_view host;       // without brackets
  std::uint16_t port = 80;
  std::string_view path;   // percent-encoded; may be empty, which means "/"
  std::string_view query;  // with its '?'; may be empty

  std::string target() const;         // of the request line
  std::string authorization() const;  // "Basic ..." of the user info; empty without one
};

// Empty, or what is wrong with it, in words fit for the log.  scheme: "http" or "ws"; of their TLS forms the words say
// that this build has none and what to do.
std::string_view parse_url(std::string_view text, std::string_view scheme, url* out);

// Whether a URL lies at or below a base without a trailing slash: the same up to a '/', a '?' or the end.
bool is_below(std::string_view text, std::string_view base) noexcept;

}  // namespace portico::upstream
