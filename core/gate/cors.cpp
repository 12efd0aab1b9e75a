#include "core/gate/cors.hpp"

#include <algorithm>
#include <utility>

#include "core/gate/headers.hpp"

namespace portico::gate {

cors::cors(std::vector<std::string> origins) : origins_(std::move(origins)) {}

bool cors::allows(const http::request_head& head) const noexcept {
  if (origins_.empty()) return false;
  const single_header origin = find_single(head, "origin");
  return origin.count == 1 && std::find(origins_.begin(), origins_.end(), origin.value) != origins_.end();
}

void cors::add_headers(http::exchange& x, bool allowed) const {
  if (origins_.empty()) return;
  x.add_response_header("vary", "Origin");  // also for others: a cache must not give one's answer to the other
  if (!allowed) return;
  const http::request_head& head = x.head();
  x.add_response_header("access-control-allow-origin", head.header("origin"));
  x.add_response_header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  x.add_response_header("access-control-allow-headers", "Authorization, Content-Type, Idempotency-Key, Range");
  x.add_response_header("access-control-expose-headers", "Retry-After, Content-Range, Accept-Ranges, Content-Length");
  x.add_response_header("access-control-allow-credentials", "true");
  x.add_response_header("access-control-max-age", "600");
  if (head.header("access-control-request-private-network") == "true")
    x.add_response_header("access-control-allow-private-network", "true");
}

void cors::answer_preflight(http::exchange& x) {
  x.begin(204, {}, 0);
  x.finish();
}

}  // namespace portico::gate
