// core/gate/origin_guard.hpp - keeps web pages of other sites away from a server on the visitor's own machine.
//
// A browser sends a page's requests to 127.0.0.1 too.  Two things give them away: what the browser says about the page
// (Sec-Fetch-Site, Origin), and, when a foreign name was made to resolve to 127.0.0.1 ("DNS rebinding"), the name in
// Host. Programs other than browsers send no Origin and pass.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/http/message.hpp"

namespace portico::gate {

// Immutable; used by all loops.
class origin_guard {
 public:
  // loopback_bind: only this machine can connect, so Host must be a loopback literal, localhost, a name below it, or
  // one of hosts ("name" for any port, or "name:port"; lower case).
  origin_guard(bool loopback_bind, std::vector<std::string> hosts);

  // Empty, or why the request is refused.  origin_listed: its Origin is allowed by CORS, and is not looked at again.
  std::string_view refuses(const http::request_head&, bool origin_listed) const noexcept;

 private:
  bool answers_to(std::string_view host, std::string_view port) const noexcept;
  bool loopback_bind_;
  std::vector<std::string> hosts_;
};

}  // namespace portico::gate
