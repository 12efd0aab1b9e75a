// plugins/uploads/conditions.hpp - what a request for bytes asks on condition (RFC 9110, sections 13 and 14).
#pragma once
#include <optional>
#include <string_view>

#include <portico/sdk.hpp>

#include "plugins/uploads/byte_range.hpp"

namespace portico::uploads {

// The one range that a GET asks for.  Nothing: the whole is meant, also when there are several Range headers.
std::optional<byte_range> range_of(const request&);

// Whether If-Range names exactly this version, by strong entity tag or by date.  Empty texts match nothing.
bool is_the_version(std::string_view if_range, std::string_view etag, std::string_view last_modified) noexcept;

// Whether the client asked for another version only: If-Match, or, only without it, If-Unmodified-Since.
bool is_another_version(std::string_view if_match, std::string_view if_unmodified_since, std::string_view etag,
                        std::string_view last_modified) noexcept;

// 412, for which is_another_version is true.
http_error another_version();

// Whether the client has this version already: If-None-Match, or, only without it, If-Modified-Since.
bool has_it_already(std::string_view if_none_match, std::string_view if_modified_since, std::string_view etag,
                    std::string_view last_modified) noexcept;

// A request's content type and disposition for bytes that are sent as `type`, made harmless where a browser might run
// them; and nosniff.
void label(response& head, std::string type, std::string disposition, std::string_view file_name);

}  // namespace portico::uploads
