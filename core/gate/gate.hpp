// core/gate/gate.hpp - what every request passes before a route sees it.
//
// In this order: what a trusted proxy says of the client, CORS headers, requests per client (429 rate_limited), origin
// and host guard (403 forbidden_origin), OPTIONS, router (404 not_found, 405 method_not_allowed with Allow, HEAD from
// GET), bearer token (401 unauthorized, also for what the router does not know, so that nobody without the token learns
// which routes there are), size of the body (413 payload_too_large). What passes has its match set and goes to the next
// handler.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/gate/access_log.hpp"
#include "core/gate/bearer_auth.hpp"
#include "core/gate/cors.hpp"
#include "core/gate/forwarded.hpp"
#include "core/gate/origin_guard.hpp"
#include "core/gate/request_limit.hpp"
#include "core/http/exchange.hpp"
#include "core/http/router.hpp"

namespace portico::gate {

struct settings {
  std::string token;              // empty: none is asked for
  std::vector<std::string> cors;  // normalised origins
  bool loopback_bind = true;
  std::vector<std::string> hosts;  // further names on a loopback bind; lower case
  std::int64_t max_body = -1;      // bytes, where a route says nothing; -1: no limit
  log_format access_log = log_format::none;
  std::vector<base::network> proxies;                           // whose X-Forwarded headers are believed
  std::uint32_t requests_per_client = 0, burst_per_client = 0;  // a second; 0: no limit, and twice the former
};

// Handles requests of all loops; immutable but for the limit, which locks, and the access log, which keeps apart what
// belongs to each loop.
class gate final : public http::handler {
 public:
  // The loops, the router (frozen before the first request) and next outlive the gate.
  gate(settings, std::span<loop::event_loop* const> loops, const http::router&, http::handler& next);

  void on_exchange(http::exchange&) noexcept override;
  void on_finished(const http::exchange&, int status, std::uint64_t body_bytes,
                   std::int64_t microseconds) noexcept override;
  void on_refused(const http::refused_request&) noexcept override;

 private:
  bool admit_client(http::exchange&);
  void answer_options(http::exchange&, bool origin_listed) const;
  bool authorize(http::exchange&, bool open) const;
  void answer_unmatched(http::exchange&, unsigned allowed) const;

  forwarded forwarded_;
  cors cors_;
  request_limit limit_;
  origin_guard guard_;
  bearer_auth auth_;
  std::int64_t max_body_;
  std::unique_ptr<access_log> log_;
  const http::router& router_;
  http::handler& next_;
};

}  // namespace portico::gate
