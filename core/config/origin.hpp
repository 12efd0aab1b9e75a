// core/config/origin.hpp - the syntax of what operators write about hosts and URLs.  Pure; any thread.
#pragma once
#include <string>
#include <string_view>

namespace portico::config {

struct checked {
  std::string text;   // normalised
  std::string error;  // why it was refused, without the place; else empty
};

// A web origin as a browser sends it: "http(s)://host[:port]", host in lower case, the scheme's default port and one
// trailing '/' dropped.  Refused: "*", another scheme, user info, path, query, fragment, an empty or invalid port.
checked normalize_origin(std::string_view);

// The url of an upstream: "http://[user[:password]@]host[:port][/path]"; trailing slashes are dropped.  Errors never
// show user info.  https is refused: this server does not speak TLS.
checked normalize_upstream_url(std::string_view);

// A name of [server] hosts: "host" or "host:port", in lower case.
checked normalize_host_name(std::string_view);

// The url without its user info.
std::string without_user_info(std::string_view url);

}  // namespace portico::config
