#include "plugins/job_store_sqlite/import_asset.hpp"

#include <algorithm>
#include <cctype>

#include "plugins/comfy/path_text.hpp"
#include "plugins/job_store_sqlite/host_file.hpp"

namespace job_store {
namespace {

enum kind { input, model };  // as uploads numbers them

bool is_token(std::string_view text) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

std::string_view without_blanks(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// As an answer's header can hold it.
bool is_content_type(std::string_view text) noexcept {
  if (text.size() > 255) return false;
  if (std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; })) return false;
  const std::string_view type = without_blanks(text.substr(0, text.find(';')));
  const std::size_t slash = type.find('/');
  return slash != std::string_view::npos && is_token(type.substr(0, slash)) && is_token(type.substr(slash + 1));
}

bool is_hash(std::string_view text) noexcept {
  constexpr std::string_view algorithm = "blake3:";
  if (!text.starts_with(algorithm) || text.size() != algorithm.size() + 64) return false;
  return std::all_of(text.begin() + algorithm.size(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// A file below its folder, and nowhere else.
bool is_contained(const asset_record& a) noexcept {
  const std::string_view name = a.name, folder = a.subfolder;
  if (a.folder != "input" && a.folder != "output" && a.folder != "temp") return false;
  if (name.empty() || name == "." || name == ".." || name.find_first_of(std::string_view("/\\\0", 3)) != name.npos)
    return false;
  if (folder.find('\0') != std::string_view::npos || comfy::leads_upwards(folder)) return false;
  if (folder.starts_with('/') || folder.starts_with('\\')) return false;
  return !(folder.size() >= 2 && folder[1] == ':');
}

// The string that a workflow's input takes for a file of ComfyUI's folders.
std::string reference_of(const asset_record& a) {
  std::string out = a.subfolder;
  if (!out.empty()) out += '/';
  out += a.name;
  if (a.folder != "input") out.append(" [").append(a.folder).append("]");
  return out;
}

// What of a model's path is below the folder named models: "checkpoints/a.safetensors".  Of several such folders the
// one that fits how the reference shows the file, which is the rest below checkpoints; else the innermost.  Empty: it
// is in none.
std::string target_of(std::string_view path, std::string_view shown) {
  constexpr std::string_view models = "/models/";
  std::string_view found;
  for (std::size_t at = path.find(models); at != std::string_view::npos; at = path.find(models, at + 1)) {
    const std::string_view below = path.substr(at + models.size());
    const std::size_t slash = below.find('/');
    if (slash == std::string_view::npos || slash == 0) continue;
    found = below;
    if (below.substr(slash + 1) == shown) break;
  }
  return std::string(found);
}

bool is_absolute(std::string_view path) noexcept {
  const bool drive = path.size() > 2 && std::isalpha(static_cast<unsigned char>(path[0])) && path[1] == ':';
  return path.starts_with('/') || (drive && (path[2] == '\\' || path[2] == '/'));
}

// The reference does not write down when it hashed the file; one of the same size is taken to be the same still.  A
// file that is gone, or of another size, is as one that was changed since: its asset is known, and its bytes are not
// given.
void find_on_disk(asset_record& a) {
  const std::optional<host_file> found = look_at(a.disk_path);
  if (!found) return;
  a.disk_path = found->path;
  if (found->size == a.size) a.disk_changed = found->changed;
}

}  // namespace

bool complete(asset_record& a) {
  if (!is_hash(a.hash) || !is_content_type(a.content_type)) return false;
  if (!a.disk_path.empty()) {
    if (!is_absolute(a.disk_path) || a.disk_path.find('\0') != std::string::npos) return false;
    find_on_disk(a);
  }
  if (!a.folder.empty()) {
    if (!is_contained(a)) return false;
    a.kind = input;
    a.reference = reference_of(a);
  } else {
    if (a.disk_path.empty()) return false;
    a.kind = model;
    a.target = target_of(a.disk_path, a.file_path);
    a.reference = a.target.empty() ? a.file_path : a.target.substr(a.target.find('/') + 1);
    if (a.reference.empty()) return false;
  }
  if (a.file_path.empty()) a.file_path = a.reference;
  return true;
}

std::string sameness_of(const asset_record& a) { return a.hash + (a.kind == model ? "/" + a.target : std::string()); }

}  // namespace job_store
