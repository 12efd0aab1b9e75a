// plugins/uploads/content_hash.hpp - BLAKE3-256 of bytes as they come.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace portico::uploads {

// One thread at a time.
class content_hash {
 public:
  content_hash();
  content_hash(const content_hash&) = delete;
  content_hash& operator=(const content_hash&) = delete;
  ~content_hash();
  void update(std::string_view bytes) noexcept;
  // "blake3:" and 64 lower-case digits, of everything so far.
  std::string text() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace portico::uploads
