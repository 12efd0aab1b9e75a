// plugins/uploads/secret.hpp - the secret that signs output ids.
#pragma once
#include <cstddef>
#include <string>

namespace portico::uploads {

constexpr std::size_t secret_size = 32;  // bytes

// The secret kept in that file.  A file that is not there is made, readable by its owner only, with a random secret;
// two processes that do so at one time end with the same one.  std::runtime_error, naming the path: it cannot be read
// or made, is not a regular file, has another length, or can be read by others.
std::string secret_in(const std::string& path);

}  // namespace portico::uploads
