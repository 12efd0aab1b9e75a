// plugins/jobs/outputs.hpp - the files a job made, as ComfyUI tells of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plugins/comfy/json.hpp"

namespace jobs {

struct output {
  std::string node_id;
  std::string type;  // image, video, audio, text, file or latent
  std::string content_type;
  std::string filename;   // a base name, as /view wants it
  std::string subfolder;  // never with ".."
  std::string folder;     // output, temp or input
};

// Appends what one node made: {"images":[{"filename","subfolder","type"}...],...}, in its order.  What has another
// shape, or names no file, is passed over.
void read_node_outputs(std::string_view node_id, const comfy::json::value& made, std::vector<output>&);

}  // namespace jobs
