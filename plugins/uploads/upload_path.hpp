// plugins/uploads/upload_path.hpp - where an upload's file_path says it should go.
#pragma once
#include <string>
#include <string_view>

#include "plugins/uploads/asset.hpp"

namespace portico::uploads {

constexpr std::size_t longest_path = 1024;  // bytes

struct upload_path {
  asset_kind kind = asset_kind::input;
  std::string folder;  // inputs: below ComfyUI's input folder, "" or "a/b"; models: the root, "checkpoints"
  std::string name;    // inputs: the file's name; models: the path below the root, "a/b.safetensors"
};

// The rules of file_path, the same on every system.  It is a path of names joined by '/'; empty names and "." are left
// out, and one leading "models/" too.  A single name, or a path below "input", is an input.  A path below one of the
// model folders is a model.  http_error 422, saying which rule was broken: anything else; an absolute path; "..", '\',
// ':' or a control character anywhere; text that is not UTF-8; a name that is hidden, ends in a dot or blank, is longer
// than 255 bytes, or is a device on Windows; a path of more than 1,024 bytes, or one that ends in '/'.
upload_path read_upload_path(std::string_view file_path);

// True for the folders below models/ that uploads may go to.
bool is_model_folder(std::string_view name) noexcept;

}  // namespace portico::uploads
