// plugins/comfy/content_type.hpp - content types by the ending of a file's name, the same on every machine.
#pragma once
#include <cstddef>
#include <string_view>

namespace comfy {

// "a/b.PNG" -> "image/png"; an ending nobody knows, or none -> "application/octet-stream".
inline std::string_view content_type_of(std::string_view name) noexcept {
  struct entry {
    std::string_view ending, type;
  };
  static constexpr entry table[] = {{"png", "image/png"},
                                    {"jpg", "image/jpeg"},
                                    {"jpeg", "image/jpeg"},
                                    {"jpe", "image/jpeg"},
                                    {"webp", "image/webp"},
                                    {"gif", "image/gif"},
                                    {"bmp", "image/bmp"},
                                    {"tif", "image/tiff"},
                                    {"tiff", "image/tiff"},
                                    {"avif", "image/avif"},
                                    {"heic", "image/heic"},
                                    {"jxl", "image/jxl"},
                                    {"svg", "image/svg+xml"},
                                    {"ico", "image/x-icon"},
                                    {"apng", "image/apng"},
                                    {"exr", "image/x-exr"},
                                    {"hdr", "image/vnd.radiance"},
                                    {"psd", "image/vnd.adobe.photoshop"},
                                    {"mp4", "video/mp4"},
                                    {"m4v", "video/mp4"},
                                    {"webm", "video/webm"},
                                    {"mov", "video/quicktime"},
                                    {"mkv", "video/x-matroska"},
                                    {"avi", "video/x-msvideo"},
                                    {"mpg", "video/mpeg"},
                                    {"mpeg", "video/mpeg"},
                                    {"ogv", "video/ogg"},
                                    {"mp3", "audio/mpeg"},
                                    {"wav", "audio/wav"},
                                    {"flac", "audio/flac"},
                                    {"ogg", "audio/ogg"},
                                    {"oga", "audio/ogg"},
                                    {"opus", "audio/opus"},
                                    {"m4a", "audio/mp4"},
                                    {"aac", "audio/aac"},
                                    {"aif", "audio/aiff"},
                                    {"aiff", "audio/aiff"},
                                    {"txt", "text/plain"},
                                    {"log", "text/plain"},
                                    {"md", "text/markdown"},
                                    {"csv", "text/csv"},
                                    {"html", "text/html"},
                                    {"htm", "text/html"},
                                    {"css", "text/css"},
                                    {"js", "text/javascript"},
                                    {"srt", "text/plain"},
                                    {"vtt", "text/vtt"},
                                    {"xml", "application/xml"},
                                    {"yaml", "application/yaml"},
                                    {"yml", "application/yaml"},
                                    {"json", "application/json"},
                                    {"pdf", "application/pdf"},
                                    {"zip", "application/zip"},
                                    {"glb", "model/gltf-binary"},
                                    {"gltf", "model/gltf+json"},
                                    {"obj", "model/obj"},
                                    {"stl", "model/stl"},
                                    {"ply", "model/ply"},
                                    {"fbx", "model/fbx"},
                                    {"usdz", "model/vnd.usdz+zip"},
                                    {"splat", "application/octet-stream"},
                                    {"latent", "application/octet-stream"},
                                    {"safetensors", "application/octet-stream"}};
  const std::size_t slash = name.find_last_of("/\\"), dot = name.rfind('.');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash))
    return "application/octet-stream";
  const std::string_view ending = name.substr(dot + 1);
  const auto same = [](std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if ((a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] | 32) : a[i]) != b[i]) return false;
    return true;
  };
  for (const entry& e : table)
    if (same(ending, e.ending)) return e.type;
  return "application/octet-stream";
}

}  // namespace comfy
