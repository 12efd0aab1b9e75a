#include "core/gate/origin_guard.hpp"

#include <utility>

#include "core/base/loopback.hpp"
#include "core/base/text.hpp"
#include "core/gate/headers.hpp"

namespace portico::gate {
namespace {

struct host_and_port {
  std::string_view host, port;  // host with the brackets of IPv6
};

host_and_port split(std::string_view authority) noexcept {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return {authority, {}};
  return {authority.substr(0, colon), authority.substr(colon + 1)};
}

// Of "scheme://host:port"; empty for "null", "file://" and what is no origin.
std::string_view authority_of(std::string_view origin) noexcept {
  const std::size_t end = origin.find("://");
  return end == std::string_view::npos ? std::string_view() : origin.substr(end + 3);
}

// A browser leaves the scheme's default port away on one side but maybe not on the other, so a missing port is any.
bool same_authority(const host_and_port& a, const host_and_port& b) noexcept {
  if (!base::equal_ignoring_case(a.host, b.host)) return false;
  return a.port.empty() || b.port.empty() || a.port == b.port;
}

}  // namespace

origin_guard::origin_guard(bool loopback_bind, std::vector<std::string> hosts)
    : loopback_bind_(loopback_bind), hosts_(std::move(hosts)) {}

bool origin_guard::answers_to(std::string_view host, std::string_view port) const noexcept {
  if (base::is_loopback_name(host)) return true;
  for (const std::string& known : hosts_) {
    const host_and_port k = split(known);
    if (base::equal_ignoring_case(k.host, host) && (k.port.empty() || k.port == port)) return true;
  }
  return false;
}

std::string_view origin_guard::refuses(const http::request_head& head, bool origin_listed) const noexcept {
  const host_and_port host = split(head.authority);
  if (loopback_bind_ && !head.authority.empty() && !answers_to(host.host, host.port))
    return "this server does not answer to the host name of the request; its operator can add it to `hosts`";
  if (origin_listed) return {};
  if (base::equal_ignoring_case(head.header("sec-fetch-site"), "cross-site"))
    return "requests from pages of other sites are not allowed; the operator can allow an origin with `cors`";
  const single_header origin = find_single(head, "origin");
  if (origin.count == 0) return {};
  const std::string_view authority = authority_of(origin.value);
  if (origin.count > 1 || authority.empty()) return "the origin of the request is not one that can be checked";
  const bool local = loopback_bind_ || base::is_loopback_name(host.host);
  if (local && !head.authority.empty() && !same_authority(host, split(authority)))
    return "requests from pages of other origins are not allowed; the operator can allow an origin with `cors`";
  return {};
}

}  // namespace portico::gate
