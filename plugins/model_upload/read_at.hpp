// plugins/model_upload/read_at.hpp - reading a file that someone else has opened.
#pragma once
#include <cstddef>
#include <cstdint>

namespace portico::model_upload {

// At most `size` bytes from `offset` into `out`; how many, 0 at the end.  The file's own position is left alone (on
// Windows it moves).  std::system_error.  May block.
std::size_t read_at(std::intptr_t file, std::uint64_t offset, char* out, std::size_t size);

}  // namespace portico::model_upload
