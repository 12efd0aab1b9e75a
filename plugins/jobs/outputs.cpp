#include "plugins/jobs/outputs.hpp"

#include "plugins/comfy/content_type.hpp"
#include "plugins/comfy/path_text.hpp"

namespace jobs {
namespace {

namespace json = comfy::json;

// What comes out of `kind` with this content type.  Nodes file videos under "images", so the content type is asked
// first.
std::string_view type_of(std::string_view kind, std::string_view content_type) noexcept {
  if (content_type.starts_with("video/")) return "video";
  if (content_type.starts_with("audio/")) return "audio";
  struct entry {
    std::string_view kind, type;
  };
  static constexpr entry table[] = {{"images", "image"}, {"gifs", "video"}, {"video", "video"},   {"videos", "video"},
                                    {"audio", "audio"},  {"text", "text"},  {"latents", "latent"}};
  for (const entry& e : table)
    if (e.kind == kind) return e.type;
  return content_type.starts_with("image/") ? "image" : "file";
}

}  // namespace

void read_node_outputs(std::string_view node_id, const json::value& made, std::vector<output>& out) {
  for (const json::member kind : made.members()) {
    for (const json::value item : kind.content.elements()) {
      const std::string filename = item["filename"].text(), subfolder = item["subfolder"].text();
      const std::string_view name = comfy::base_name(filename);  // some nodes report a whole path
      if (name.empty() || name == "." || name == ".." || comfy::leads_upwards(subfolder)) continue;
      const std::string_view content_type = comfy::content_type_of(name);
      const json::value folder = item["type"];
      out.push_back({std::string(node_id), std::string(type_of(kind.key.text(), content_type)),
                     std::string(content_type), std::string(name), subfolder,
                     folder.is_string() && !folder.equals("") ? folder.text() : "output"});
    }
  }
}

}  // namespace jobs
