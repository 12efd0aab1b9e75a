#include "core/config/origin.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/text.hpp"

namespace portico::config {
namespace {

bool is_host(std::string_view host) {
  if (host.empty()) return false;
  if (host.front() == '[') {
    if (host.size() < 4 || host.back() != ']') return false;
    return std::all_of(host.begin() + 1, host.end() - 1, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
    });
  }
  return std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
           c == '_';
  });
}

struct authority {
  std::string host;
  int port = 0;  // 0: none
  std::string error;
};

// host[:port], the host in lower case.
authority split_authority(std::string_view text) {
  authority out;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = text.substr(0, colon);
  if (!is_host(host)) {
    out.error = host.empty()
                    ? "it has no host"
                    : "its host is not a name or an address; allowed: letters, digits, -, _ and dots, or [IPv6]";
    return out;
  }
  out.host = base::lower(host);
  if (colon == std::string_view::npos) return out;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (port.empty() || port[0] == '-' || problem != std::errc{} || end != port.data() + port.size() || out.port < 1 ||
      out.port > 65535)
    out.error = port.empty() ? "its port is empty; leave the colon away" : "its port is not a number from 1 to 65535";
  return out;
}

// What stands before "://", in lower case; text is left with what stands behind it.
std::string take_scheme(std::string_view& text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos) return {};
  std::string scheme = base::lower(text.substr(0, end));
  text.remove_prefix(end + 3);
  return scheme;
}

constexpr std::string_view origin_form = "; allowed: http://host[:port] or https://host[:port]";

}  // namespace

checked normalize_origin(std::string_view text) {
  const auto refused = [](std::string_view why) { return checked{{}, std::string(why) + std::string(origin_form)}; };
  if (text.empty()) return refused("it is empty");
  if (text.find('*') != std::string_view::npos) return refused("wildcards are not supported, name each origin");
  const std::string scheme = take_scheme(text);
  if (scheme != "http" && scheme != "https") return refused("it does not begin with http:// or https://");
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.find('@') != std::string_view::npos) return refused("it has user info");
  if (text.find_first_of("/\\") != std::string_view::npos) return refused("it has a path");
  if (text.find('?') != std::string_view::npos) return refused("it has a query");
  if (text.find('#') != std::string_view::npos) return refused("it has a fragment");
  const authority a = split_authority(text);
  if (!a.error.empty()) return refused(a.error);
  checked out{scheme + "://" + a.host, {}};
  if (a.port != 0 && a.port != (scheme == "http" ? 80 : 443)) out.text += ":" + std::to_string(a.port);
  return out;
}

checked normalize_upstream_url(std::string_view text) {
  constexpr std::string_view form = "; allowed: http://host[:port][/path]";
  const auto refused = [&](std::string_view why) { return checked{{}, std::string(why) + std::string(form)}; };
  const std::string_view whole = text;
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }))
    return refused("the URL has a blank or a control character");
  const std::string scheme = take_scheme(text);
  if (scheme == "https")
    return refused("https is not supported for upstreams, put a TLS client such as stunnel in between");
  if (scheme != "http") return refused("the URL does not begin with http://");
  if (text.find_first_of("?#") != std::string_view::npos) return refused("the URL has a query or a fragment");
  const std::size_t slash = text.find('/');
  std::string_view host = text.substr(0, slash);
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  const authority a = split_authority(host);
  if (!a.error.empty()) return refused("the URL is not complete: " + a.error);
  checked out{std::string(whole), {}};
  while (out.text.ends_with('/')) out.text.pop_back();
  return out;
}

checked normalize_host_name(std::string_view text) {
  const authority a = split_authority(text);
  if (!a.error.empty()) return {{}, a.error + "; allowed: host or host:port"};
  return {a.port == 0 ? a.host : a.host + ":" + std::to_string(a.port), {}};
}

std::string without_user_info(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const std::size_t begin = scheme + 3;
  const std::string_view host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const std::size_t at = host.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, begin)) + std::string(url.substr(begin + at + 1));
}

}  // namespace portico::config
