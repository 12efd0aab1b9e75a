// plugins/comfyui_standin/files.hpp - the input, output and temp folders, in memory.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace standin {

// One file.  The bytes never change once it is stored, so another loop may send them while the folder forgets them.
struct stored_file {
  std::shared_ptr<const std::string> bytes;
  std::int64_t modified = 0;  // seconds since 1970, UTC
  std::uint64_t serial = 0;   // grows with each store
  std::string etag() const;   // with its quotes
};

// Used on loop 0 only.
class folders {
 public:
  // max_bytes: of outputs and temporary files together; the oldest are forgotten beyond it.  Inputs are kept.
  explicit folders(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Whether there is a folder of that type: "input", "output", "temp".
  static bool known(std::string_view type) { return type == "input" || type == "output" || type == "temp"; }
  // The one spelling of a path below the folder; nothing when it leads out of it.
  static std::optional<std::string> inside(std::string_view subfolder, std::string_view name);

  void put(const std::string& type, const std::string& path, std::string bytes);
  const stored_file* find(const std::string& type, const std::string& path) const;
  // Stores an upload as ComfyUI does: a name taken by other bytes becomes "name (1).ext" and so on, equal bytes are
  // stored once.  Returns the name it has now; nothing when the path leads out of the folder.
  std::optional<std::string> upload(const std::string& type, const std::string& subfolder, const std::string& name,
                                    std::string bytes, bool overwrite);
  // The next free number for files of a prefix: what SaveImage writes as 00001.
  int next_number(const std::string& type, const std::string& prefix) { return ++numbers_[type + '/' + prefix]; }
  void forget(const std::string& type);

 private:
  void make_room();
  std::uint64_t max_bytes_, held_ = 0, serial_ = 0;
  std::map<std::string, stored_file> files_;   // by "type/path"
  std::map<std::uint64_t, std::string> made_;  // outputs and temporary files by serial
  std::map<std::string, int> numbers_;
};

// The media type for a file name; "application/octet-stream" when the extension is not known.
std::string_view media_type_of(std::string_view name);
// Whether a browser would run what a file of that type holds: served as application/octet-stream, for download only.
bool is_active(std::string_view media_type);

}  // namespace standin
