#include "plugins/comfyui_standin/files.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

namespace standin {

std::string stored_file::etag() const {
  char text[48];
  std::snprintf(text, sizeof text, "\"%llx-%zx\"", static_cast<unsigned long long>(serial), bytes->size());
  return text;
}

std::optional<std::string> folders::inside(std::string_view subfolder, std::string_view name) {
  std::vector<std::string_view> steps;
  for (std::string_view rest : {subfolder, name}) {
    if (!rest.empty() && rest.front() == '/') return std::nullopt;
    while (!rest.empty()) {
      const std::string_view step = rest.substr(0, rest.find('/'));
      rest.remove_prefix(step.size() < rest.size() ? step.size() + 1 : rest.size());
      if (step.empty() || step == ".") continue;
      if (step != "..") {
        steps.push_back(step);
      } else {
        if (steps.empty()) return std::nullopt;
        steps.pop_back();
      }
    }
  }
  std::string path;
  for (const std::string_view step : steps) path.append(path.empty() ? "" : "/").append(step);
  return path;
}

void folders::put(const std::string& type, const std::string& path, std::string bytes) {
  stored_file& f = files_[type + '/' + path];
  if (f.bytes && made_.erase(f.serial)) held_ -= f.bytes->size();
  f.bytes = std::make_shared<const std::string>(std::move(bytes));
  f.modified = static_cast<std::int64_t>(std::time(nullptr));
  f.serial = ++serial_;
  if (type == "input") return;
  made_[f.serial] = type + '/' + path;
  held_ += f.bytes->size();
  make_room();
}

void folders::make_room() {
  while (held_ > max_bytes_ && made_.size() > 1) {
    const auto oldest = files_.find(made_.begin()->second);
    held_ -= oldest->second.bytes->size();
    files_.erase(oldest);
    made_.erase(made_.begin());
  }
}

const stored_file* folders::find(const std::string& type, const std::string& path) const {
  const auto it = files_.find(type + '/' + path);
  return it == files_.end() ? nullptr : &it->second;
}

std::optional<std::string> folders::upload(const std::string& type, const std::string& subfolder,
                                           const std::string& name, std::string bytes, bool overwrite) {
  const std::size_t dot = name.rfind('.');
  const std::string stem = name.substr(0, dot), extension = dot == std::string::npos ? "" : name.substr(dot);
  std::string chosen = name;
  for (int i = 1;; ++i) {
    const std::optional<std::string> path = inside(subfolder, chosen);
    if (!path || path->empty()) return std::nullopt;
    const stored_file* taken = find(type, *path);
    if (taken && !overwrite && *taken->bytes == bytes) return chosen;
    if (!taken || overwrite) {
      put(type, *path, std::move(bytes));
      return chosen;
    }
    chosen = stem + " (" + std::to_string(i) + ')' + extension;
  }
}

void folders::forget(const std::string& type) {
  std::erase_if(files_, [&](const auto& entry) {
    const bool gone = entry.first.compare(0, type.size() + 1, type + '/') == 0;
    if (gone && made_.erase(entry.second.serial)) held_ -= entry.second.bytes->size();
    return gone;
  });
}

std::string_view media_type_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 27> known = {{
      {"png", "image/png"},         {"jpg", "image/jpeg"},        {"jpeg", "image/jpeg"},
      {"webp", "image/webp"},       {"gif", "image/gif"},         {"bmp", "image/bmp"},
      {"svg", "image/svg+xml"},     {"mp4", "video/mp4"},         {"webm", "video/webm"},
      {"mov", "video/quicktime"},   {"mkv", "video/x-matroska"},  {"mp3", "audio/mpeg"},
      {"wav", "audio/x-wav"},       {"flac", "audio/flac"},       {"ogg", "audio/ogg"},
      {"opus", "audio/ogg"},        {"txt", "text/plain"},        {"md", "text/markdown"},
      {"html", "text/html"},        {"htm", "text/html"},         {"xhtml", "application/xhtml+xml"},
      {"js", "text/javascript"},    {"mjs", "text/javascript"},   {"css", "text/css"},
      {"json", "application/json"}, {"glb", "model/gltf-binary"}, {"xml", "text/xml"},
  }};
  const std::size_t dot = name.rfind('.');
  std::string extension(dot == std::string_view::npos ? "" : name.substr(dot + 1));
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  for (const auto& [known_extension, type] : known)
    if (extension == known_extension) return type;
  return "application/octet-stream";
}

bool is_active(std::string_view type) {
  for (const std::string_view active :
       {"text/html", "application/xhtml+xml", "text/javascript", "text/css", "image/svg+xml", "text/xml"})
    if (type == active) return true;
  return false;
}

}  // namespace standin
