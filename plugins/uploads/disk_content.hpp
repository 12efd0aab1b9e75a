// plugins/uploads/disk_content.hpp - answers a request for bytes from a file of this machine.
#pragma once
#include <portico/sdk.hpp>

#include "plugins/uploads/asset.hpp"

namespace portico::uploads {

// Sends the file of an asset whose disk_path is set: the whole, or one range (206, 416), or 304.  Its entity tag is its
// hash.  http_error 404 output_unavailable, and the asset's bytes are marked lost: it is not there any more, or has
// been changed since it was hashed.
task<response> serve_from_disk(request&, asset_ptr);

// Whether the file is still there as it was.  May block.
bool is_unchanged_on_disk(const blob&);

}  // namespace portico::uploads
