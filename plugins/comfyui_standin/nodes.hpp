// plugins/comfyui_standin/nodes.hpp - the node classes this stand-in knows: their inputs, outputs and ranges.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/comfyui_standin/json.hpp"

namespace standin {

struct input_spec {
  const char* name;
  const char* type;          // "INT", "FLOAT", "STRING", "COMBO", or the type of a link such as "MODEL"
  double min = 0, max = 0;   // of INT and FLOAT
  const char* choices = "";  // of COMBO, separated by commas; empty: any text
  bool required = true;
};

struct node_spec {
  const char* name;
  const char* title;
  const char* category;
  std::vector<input_spec> inputs;
  std::vector<const char*> outputs;
  bool is_output = false;  // what it makes is a result of the prompt
};

const std::vector<node_spec>& all_nodes();
const node_spec* find_node(std::string_view class_type);
// What GET /object_info says about one class.
json describe(const node_spec&);

// A link to the output of another node.
struct link {
  std::string node;
  std::size_t slot = 0;
};
// The link an input value stands for; nothing when it is a plain value.
std::optional<link> link_of(const json& value);

// An annotated file name: "sub/a.png [output]" is a.png in sub of the output folder.
struct file_name {
  std::string type, path;
};
file_name file_named(std::string_view annotated);

}  // namespace standin
