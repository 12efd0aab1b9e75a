#include "core/gate/gate.hpp"

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/gate/headers.hpp"

namespace portico::gate {
namespace {

// What a client may call its request, so that it stands in a log and in a header as it is.
bool is_request_id(std::string_view id) noexcept {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return base::is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-._~:+/=@").find(c) != std::string_view::npos;
  });
}

// The client's own name for the request, where it has a good one.
void name(http::exchange& x) {
  const single_header own = find_single(x.head(), "x-request-id");
  if (own.count == 1 && is_request_id(own.value)) x.set_id(own.value);
}

}  // namespace

gate::gate(settings s, std::span<loop::event_loop* const> loops, const http::router& router, http::handler& next)
    : forwarded_(std::move(s.proxies)),
      cors_(std::move(s.cors)),
      limit_(s.requests_per_client, s.burst_per_client != 0 ? s.burst_per_client : 2 * s.requests_per_client),
      guard_(s.loopback_bind, std::move(s.hosts)),
      auth_(std::move(s.token)),
      max_body_(s.max_body),
      log_(s.access_log != log_format::none ? std::make_unique<access_log>(s.access_log, loops) : nullptr),
      router_(router),
      next_(next) {}

void gate::on_exchange(http::exchange& x) noexcept {
  const http::request_head& head = x.head();
  forwarded_.apply(x);
  name(x);
  const bool origin_listed = cors_.allows(head);
  cors_.add_headers(x, origin_listed);
  if (limit_.limits() && !admit_client(x)) return;
  if (const std::string_view why = guard_.refuses(head, origin_listed); !why.empty())
    return http::answer_error(x, 403, "forbidden_origin", why);
  if (head.method == "OPTIONS") return answer_options(x, origin_listed);

  const http::router::result match = router_.find(head.method, head.path);
  if (match.found == nullptr) {
    // A wrong method on an open path is told so without a token, as the path is no secret.
    const http::route* reads = match.allowed != 0 ? router_.find("GET", head.path).found : nullptr;
    if (authorize(x, reads != nullptr && reads->open)) answer_unmatched(x, match.allowed);
    return;
  }
  if (!authorize(x, match.found->open)) return;
  x.set_match(match.found, {match.raw_params, match.param_count});
  const std::int64_t limit = match.found->max_body >= 0 ? match.found->max_body : max_body_;
  if (limit >= 0 && head.content_length > limit)
    return http::answer_error(x, 413, "payload_too_large",
                              "the body is larger than this route allows: " + std::to_string(limit) + " bytes");
  x.set_max_body(limit);
  next_.on_exchange(x);
}

bool gate::admit_client(http::exchange& x) {
  const std::uint32_t seconds = limit_.admit(x.peer(), x.home().now());
  if (seconds == 0) return true;
  const std::string wait = std::to_string(seconds);
  const http::field retry = {"retry-after", wait};
  http::answer_error(x, 429, "rate_limited", "too many requests from this address; try again in " + wait + " s",
                     {&retry, 1});
  return false;
}

// Before the token is asked for: a browser's preflight cannot bring one.
void gate::answer_options(http::exchange& x, bool origin_listed) const {
  if (origin_listed) return cors::answer_preflight(x);
  const unsigned allowed = router_.find("OPTIONS", x.head().path).allowed;
  const std::string methods = allowed != 0 ? router_.allow(allowed) : std::string();
  const http::field allow = {"allow", methods};
  x.begin(200, {&allow, methods.empty() ? 0u : 1u}, 0);
  x.finish();
}

bool gate::authorize(http::exchange& x, bool open) const {
  if (!auth_.asks() || open) return true;
  if (auth_.admits(x.head())) {
    x.set_token_id("default");
    return true;
  }
  const http::field challenge = {"www-authenticate", "Bearer"};
  http::answer_error(x, 401, "unauthorized", "this server asks for `Authorization: Bearer TOKEN` with its token",
                     {&challenge, 1});
  return false;
}

void gate::answer_unmatched(http::exchange& x, unsigned allowed) const {
  if (allowed == 0) return http::answer_error(x, 404, "not_found", "no such route");
  const std::string methods = router_.allow(allowed);
  const http::field allow = {"allow", methods};
  http::answer_error(x, 405, "method_not_allowed", "this path does not have the method; it has " + methods,
                     {&allow, 1});
}

void gate::on_finished(const http::exchange& x, int status, std::uint64_t body_bytes,
                       std::int64_t microseconds) noexcept {
  if (log_ != nullptr) log_->add(x, status, body_bytes, microseconds);
  next_.on_finished(x, status, body_bytes, microseconds);
}

void gate::on_refused(const http::refused_request& r) noexcept {
  if (log_ != nullptr) log_->add(r);
}

}  // namespace portico::gate
