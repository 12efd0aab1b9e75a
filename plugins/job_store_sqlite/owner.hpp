// plugins/job_store_sqlite/owner.hpp - one process owns a folder of state at a time.
#pragma once
#include <cstdint>
#include <string>

namespace job_store {

// Makes the folder, open to its owner only, if it is not there, and holds it until it is destroyed or the process ends,
// however it ends.  std::runtime_error, naming the folder and, where it is known, the process that holds it.
class owner {
 public:
  explicit owner(const std::string& folder);
  ~owner();
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;

 private:
  std::intptr_t file_;
};

}  // namespace job_store
