// plugins/uploads/asset.hpp - one stored asset: a record over bytes that other records may share.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/uploads/clock.hpp"
#include "plugins/uploads/names.hpp"

namespace portico::uploads {

// Bytes in one place.  All but `lost` is fixed once a record refers to it.
struct blob {
  std::string hash;               // "blake3:" and 64 lower-case digits
  std::uint64_t size = 0;         // bytes
  file_ref file;                  // where ComfyUI has it; type empty: it is not in one of ComfyUI's three folders
  std::string disk_path;          // absolute, without symbolic links; empty: not known on disk
  instant disk_changed = 0;       // the file's modification time when it was hashed
  std::atomic<instant> seen{0};   // when the bytes were last found to be there
  std::atomic<bool> lost{false};  // the bytes were looked for and are gone; never offered for the same content again
};

enum class asset_kind { input, model };

struct asset {
  std::string id;
  std::shared_ptr<blob> bytes;
  asset_kind kind = asset_kind::input;
  std::string content_type;
  std::string file_path;  // as shown
  std::string reference;  // the text that takes the place of a core/ASSET reference to it
  std::string target;     // models: the path below the models folder; two records of one content differ in it
  std::vector<std::string> tags;
  instant created = 0;
  instant expires = 0;  // 0: never
};

// An asset that was given out never changes; see asset_index.
using asset_ptr = std::shared_ptr<const asset>;

// Whether an answer says if the asset is new: only those to a request that could have made it.
enum class created_new { unsaid, no, yes };

// The Asset object of the contract.  base_url: "scheme://authority", without a slash at the end.
std::string to_json(const asset&, std::string_view base_url, instant at, created_new);

// The Asset object of an output, about which only its name is known.
struct output;
std::string to_json(const output&, std::string_view id, std::string_view base_url, instant at);

}  // namespace portico::uploads
