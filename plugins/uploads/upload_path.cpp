#include "plugins/uploads/upload_path.hpp"

#include <algorithm>
#include <array>
#include <portico/response.hpp>
#include <vector>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"
#include "plugins/uploads/header_text.hpp"

namespace portico::uploads {
namespace {

constexpr std::size_t longest_name = 255;  // bytes

[[noreturn]] void refuse(const char* why) {
  throw http_error(422, comfy::code::invalid_request, std::string("file_path ") + why);
}

// Of all characters, because a path that is refused on one system must not pass on another.
void check_text(std::string_view path) {
  for (std::size_t i = 0; i < path.size();) {
    const auto c = static_cast<unsigned char>(path[i]);
    const std::size_t length = comfy::json::utf8_sequence(path.substr(i));
    if (length == 0) refuse("is not UTF-8 text");
    const bool c1 = c == 0xC2 && static_cast<unsigned char>(path[i + 1]) < 0xA0;
    if (c < 0x20 || c == 0x7F || c1) refuse("holds a control character");
    if (c == '\\') refuse("holds a backslash; its parts are joined by '/'");
    if (c == ':') refuse("holds a colon");
    i += length;
  }
}

// CON, NUL, COM1 and so on, whatever follows the first dot.
bool is_windows_device(std::string_view name) noexcept {
  std::string_view stem = name.substr(0, name.find('.'));
  while (!stem.empty() && stem.back() == ' ') stem.remove_suffix(1);
  constexpr std::array fixed = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"};
  if (std::any_of(fixed.begin(), fixed.end(), [&](const char* d) { return same_ignoring_case(stem, d); })) return true;
  if (stem.size() < 4) return false;
  const std::string_view number = stem.substr(3);
  const bool port = same_ignoring_case(stem.substr(0, 3), "com") || same_ignoring_case(stem.substr(0, 3), "lpt");
  const bool digit = number.size() == 1 && number[0] >= '0' && number[0] <= '9';
  const bool raised = number == "\xC2\xB9" || number == "\xC2\xB2" || number == "\xC2\xB3";
  return port && (digit || raised);
}

void check_name(std::string_view name) {
  if (name == "..") refuse("leads upwards with \"..\"");
  if (name.size() > longest_name) refuse("holds a name of more than 255 bytes");
  if (name.front() == '.') refuse("holds a hidden name, one that begins with a dot");
  if (name.back() == '.' || name.back() == ' ') refuse("holds a name that ends in a dot or a blank");
  if (is_windows_device(name)) refuse("holds a name that is a device on Windows");
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> names;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (!name.empty() && name != ".") {
      check_name(name);
      names.push_back(name);
    }
    if (slash == std::string_view::npos) return names;
    path.remove_prefix(slash + 1);
  }
}

std::string join(std::vector<std::string_view>::const_iterator first,
                 std::vector<std::string_view>::const_iterator last) {
  std::string out;
  for (auto name = first; name != last; ++name) out.append(out.empty() ? "" : "/").append(*name);
  return out;
}

}  // namespace

bool is_model_folder(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 23> folders = {"checkpoints",
                                                        "loras",
                                                        "vae",
                                                        "text_encoders",
                                                        "diffusion_models",
                                                        "clip_vision",
                                                        "style_models",
                                                        "embeddings",
                                                        "diffusers",
                                                        "vae_approx",
                                                        "controlnet",
                                                        "gligen",
                                                        "upscale_models",
                                                        "latent_upscale_models",
                                                        "hypernetworks",
                                                        "photomaker",
                                                        "classifiers",
                                                        "model_patches",
                                                        "audio_encoders",
                                                        "background_removal",
                                                        "frame_interpolation",
                                                        "geometry_estimation",
                                                        "optical_flow"};
  return std::find(folders.begin(), folders.end(), name) != folders.end();
}

upload_path read_upload_path(std::string_view file_path) {
  if (file_path.empty()) refuse("is empty");
  if (file_path.front() == '/') refuse("is absolute");
  if (file_path.size() > longest_path) refuse("is longer than 1,024 bytes");
  check_text(file_path);
  if (file_path.back() == '/') refuse("ends in '/', so it names no file");
  if (file_path.starts_with("models/")) file_path.remove_prefix(7);
  const std::vector<std::string_view> names = split(file_path);
  if (names.empty()) refuse("names no file");
  if (names.size() == 1) return {asset_kind::input, "", std::string(names[0])};
  const auto rest = names.begin() + 1;
  if (names[0] == "input") return {asset_kind::input, join(rest, names.end() - 1), std::string(names.back())};
  if (is_model_folder(names[0])) return {asset_kind::model, std::string(names[0]), join(rest, names.end())};
  refuse("must be a single name, a path below input/, or a path below one of the model folders such as checkpoints/");
}

}  // namespace portico::uploads
