// plugins/uploads/names.hpp - a file as ComfyUI names it, and the texts that are made of it.
#pragma once
#include <string>
#include <string_view>

namespace portico::uploads {

// A file in one of ComfyUI's three folders.  type: "input", "output" or "temp".
struct file_ref {
  std::string name, subfolder, type;
};

// What follows the last '/' or '\'.  Nodes report full paths of either system as file names.
std::string_view base_name(std::string_view path) noexcept;

// True when the reference can only name a file below its folder: a type of the three, a base name, no "..", no absolute
// path and no drive.
bool is_contained(const file_ref&) noexcept;

// The path and query that fetch the file: "/view?filename=...&subfolder=...&type=...".  The file name is cut to its
// base name, and each value is percent-encoded once.
std::string view_path(const file_ref&);

// The string that a workflow's input takes for the file: "sub/a.png", and for a file outside the input folder
// "a.png [output]" or "a.png [temp]".
std::string reference_text(const file_ref&);

// Every byte that is not an unreserved character (RFC 3986) as %XX.
std::string percent_encode(std::string_view);

}  // namespace portico::uploads
