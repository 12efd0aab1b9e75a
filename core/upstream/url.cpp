#include "core/upstream/url.hpp"

#include <algorithm>

#include "core/base/base64.hpp"
#include "core/base/text.hpp"
#include "core/http/syntax.hpp"

namespace portico::upstream {
namespace {

namespace syntax = http::syntax;

bool all_of(std::string_view text, const syntax::table& table) noexcept {
  return std::all_of(text.begin(), text.end(), [&](char c) { return syntax::of(table, c) != 0; });
}

// authority is of good syntax already.
void split_authority(url* out) {
  const std::string_view all = out->authority;
  const std::size_t bracket = all.rfind(']');
  const std::size_t colon = all.find(':', bracket == all.npos ? 0 : bracket);
  out->host = all.substr(0, colon);
  if (colon != all.npos) out->port = base::parse_integer<std::uint16_t>(all.substr(colon + 1)).value_or(0);
  if (bracket != all.npos) out->host = out->host.substr(1, out->host.size() - 2);
}

}  // namespace

std::string_view parse_url(std::string_view text, std::string_view scheme, url* out) {
  *out = url();
  const std::size_t colon = text.find("://");
  const std::string_view given = text.substr(0, colon == text.npos ? 0 : colon);
  if (base::equal_ignoring_case(given, "https") || base::equal_ignoring_case(given, "wss"))
    return "this build has no TLS: use http:// or ws://, to the server itself or to a TLS proxy in front of it";
  if (!base::equal_ignoring_case(given, scheme))
    return scheme == "ws" ? "the URL must begin with ws://" : "the URL must begin with http://";
  std::string_view rest = text.substr(colon + 3);
  const std::size_t end = rest.find_first_of("/?#");
  out->authority = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end);
  if (const std::size_t at = out->authority.rfind('@'); at != out->authority.npos) {
    out->user_info = out->authority.substr(0, at);
    out->authority.remove_prefix(at + 1);
  }
  if (!all_of(out->user_info, syntax::path_char))
    return "the URL's user info has a character that must be percent-encoded";
  if (!syntax::is_authority(out->authority)) return "the URL needs a host, or host:port, IPv6 in brackets";
  split_authority(out);
  if (out->port == 0) return "the URL's port is not 1 to 65535";
  if (rest.find('#') != rest.npos) return "the URL has a fragment";
  const std::size_t question = rest.find('?');
  out->path = rest.substr(0, question);
  if (question != rest.npos) out->query = rest.substr(question);
  if (!all_of(out->path, syntax::path_char) || !all_of(out->query, syntax::query_char))
    return "the URL has a character that must be percent-encoded";
  return {};
}

std::string url::target() const {
  std::string text;
  text.reserve(path.size() + query.size() + 1);
  return text.append(path.empty() ? "/" : path).append(query);
}

std::string url::authorization() const {
  if (user_info.empty()) return {};
  std::string decoded;
  if (!base::percent_decode(user_info, decoded)) decoded = user_info;
  if (decoded.find(':') == decoded.npos) decoded += ':';
  return "Basic " + base::base64(decoded);
}

bool is_below(std::string_view text, std::string_view base) noexcept {
  if (base.empty() || text.substr(0, base.size()) != base) return false;
  return text.size() == base.size() || text[base.size()] == '/' || text[base.size()] == '?';
}

}  // namespace portico::upstream
