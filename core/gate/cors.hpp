// core/gate/cors.hpp - lets web pages of listed origins use this server from a browser.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/http/exchange.hpp"

namespace portico::gate {

// Immutable; used by all loops.
class cors {
 public:
  // Origins in the form browsers send them.  Empty: CORS is off.
  explicit cors(std::vector<std::string> origins);

  // Whether the request comes from a listed origin, byte for byte.  Two Origin headers are none.
  bool allows(const http::request_head&) const noexcept;
  // The headers that whatever answer comes must have.  allowed: what allows() said of this request.
  void add_headers(http::exchange&, bool allowed) const;
  // Answers a preflight of a listed origin with 204; the exchange is given back.
  static void answer_preflight(http::exchange&);

 private:
  std::vector<std::string> origins_;
};

}  // namespace portico::gate
