// plugins/uploads/view_relay.hpp - passes a file of the upstream on to the client, as it arrives.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <portico/sdk.hpp>

#include "plugins/uploads/byte_range.hpp"
#include "plugins/uploads/names.hpp"

namespace portico::uploads {

// What is known about a file before it is asked for.
struct expected_file {
  file_ref file;
  std::string content_type;           // empty: the upstream's word is taken
  std::optional<std::uint64_t> size;  // in bytes; a file of another size is not the one that was stored
};

// Answers the request with the file at upstream + /view: the whole of it, one range of it (206, 416), or that it has
// not changed (304).  Nothing is sent before the upstream's status is known.  http_error: 404 output_unavailable, and
// *gone is set; 502 upstream_error for any other status; 500 upstream_error when the upstream could not be asked.
// upstream and gone outlive the task.
task<response> relay_view(request& req, std::string_view upstream, expected_file what, bool* gone);

// Asks the upstream whether it still has the file, of that size.  True too when it could not be asked or did not say.
task<bool> is_upstream(context, std::string_view upstream, file_ref file, std::uint64_t size);

}  // namespace portico::uploads
