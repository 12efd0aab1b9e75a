// core/gate/bearer_auth.hpp - asks for the server's token: `Authorization: Bearer TOKEN`.
#pragma once
#include <string>

#include "core/http/message.hpp"

namespace portico::gate {

// Immutable; used by all loops.
class bearer_auth {
 public:
  // Empty: nobody is asked for a token.
  explicit bearer_auth(std::string token);

  bool asks() const noexcept { return !token_.empty(); }
  // One Authorization header, the scheme in any case, one space, the token byte for byte.  The time it takes tells
  // nothing about the token but what the request itself says.
  bool admits(const http::request_head&) const noexcept;

 private:
  std::string token_;
};

}  // namespace portico::gate
