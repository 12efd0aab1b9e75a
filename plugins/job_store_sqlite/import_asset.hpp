// plugins/job_store_sqlite/import_asset.hpp - an asset of the reference proxy as the plugin uploads writes one down.
#pragma once
#include <string>
#include <string_view>

#include "plugins/job_store_sqlite/records.hpp"

namespace job_store {

// In: what the reference knows of it, which is id, hash, content_type, file_path (empty: none), size, created, tags,
// and where the bytes are: name, subfolder and folder (of the three of ComfyUI; empty: none), disk_path.  Adds what it
// does not know: kind, reference, target, and when the file was changed.  False: uploads cannot serve it.
bool complete(asset_record&);

// Two assets that uploads takes for one have the same text.
std::string sameness_of(const asset_record&);

}  // namespace job_store
