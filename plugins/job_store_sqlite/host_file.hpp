// plugins/job_store_sqlite/host_file.hpp - what is to be known of a file that an asset has its bytes in.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace job_store {

struct host_file {
  std::string path;  // absolute, without symbolic links, its names joined by '/'
  std::uint64_t size;
  std::int64_t changed;  // its modification time, as uploads compares it: in microseconds
};

// Nothing: there is no regular file of that path, or it cannot be looked at.
std::optional<host_file> look_at(const std::string& path);

}  // namespace job_store
