// plugins/comfyui_standin/validate.hpp - what ComfyUI checks before it takes a prompt, and the words it refuses with.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "plugins/comfyui_standin/json.hpp"

namespace standin {

struct verdict {
  bool accepted = false;
  json error;                         // why not; null when accepted
  json node_errors = json::object();  // by node, also beside an accepted prompt
  std::vector<std::string> targets;   // the output nodes that are sound
};

// graph: the "prompt" of POST /prompt.  image_exists: whether LoadImage would find an annotated file name.
verdict validate(const json& graph, const std::function<bool(const std::string&)>& image_exists);

// {"type":..,"message":..,"details":..,"extra_info":{}}
json problem(std::string type, std::string message, std::string details, json extra_info = json::object());

// Whether text is a UUID in its one canonical form: lower case, with dashes, nothing around it.
bool is_canonical_uuid(std::string_view text);

}  // namespace standin
