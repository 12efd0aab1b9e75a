// core/gate/forwarded.hpp - what trusted reverse proxies say of the clients they speak for.
#pragma once
#include <vector>

#include "core/base/address.hpp"
#include "core/http/exchange.hpp"

namespace portico::gate {

// Immutable; used by all loops.
class forwarded {
 public:
  // The proxies.  None: nobody is believed.
  explicit forwarded(std::vector<base::network> trusted) : trusted_(std::move(trusted)) {}

  // When the peer is one of them: X-Forwarded-Proto and X-Forwarded-Host shape the links (base_url), X-Forwarded-For
  // names the client, which is the last address in it that is no such proxy.  Of a list in the first two the last
  // member counts, as it comes from the proxy that is known.  What is malformed is as if it were not there.
  void apply(http::exchange&) const;

 private:
  bool trusts(std::string_view address) const noexcept;
  std::vector<base::network> trusted_;
};

}  // namespace portico::gate
