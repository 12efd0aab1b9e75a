#include "plugins/health/body.hpp"

#include <portico/response.hpp>

#include <algorithm>

namespace portico::health {

std::string without_user_info(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(url);
  const std::size_t authority = scheme_end + 3;
  const std::size_t authority_end = std::min(url.find_first_of("/?#", authority), url.size());
  // The last '@' ends the user info: a careless password may hold one that should have been percent-encoded.
  const std::size_t at = url.substr(authority, authority_end - authority).rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, authority)).append(url.substr(authority + at + 1));
}

std::string health_body(std::string_view upstream_url) {
  while (upstream_url.ends_with('/')) upstream_url.remove_suffix(1);
  std::string body = "{\"status\":\"healthy\",\"upstream\":";
  append_json_string(body, without_user_info(upstream_url));
  return body += '}';
}

}  // namespace portico::health
