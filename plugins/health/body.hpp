// plugins/health/body.hpp - what the health route says.
#pragma once
#include <string>
#include <string_view>

namespace portico::health {

// The URL without its user info ("http://me:secret@host/p" gives "http://host/p"), so that it can be shown to anyone.
// What has no authority, or no user info in it, is returned unchanged.
std::string without_user_info(std::string_view url);

// {"status":"healthy","upstream":URL}, with the URL's user info and trailing slashes left out.
std::string health_body(std::string_view upstream_url);

}  // namespace portico::health
