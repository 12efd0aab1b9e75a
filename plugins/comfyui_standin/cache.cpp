#include "plugins/comfyui_standin/cache.hpp"

#include <algorithm>
#include <utility>

#include "plugins/comfyui_standin/nodes.hpp"

namespace standin {

std::uint64_t signatures::of(const std::string& node) {
  const auto known = known_.find(node);
  if (known != known_.end()) return known->second;
  const json& n = *graph_.find(node);
  const std::string& type = n.find("class_type")->str();
  std::string text = type;
  std::map<std::string, std::string> by_name;  // the order of the keys does not matter
  if (const json* in = n.find("inputs"))
    for (const auto& [name, input] : in->members()) {
      const std::optional<link> l = link_of(input);
      by_name[name] =
          l && graph_.find(l->node) ? '@' + std::to_string(of(l->node)) + '.' + std::to_string(l->slot) : input.print();
      if (type == "LoadImage" && name == "image") by_name[name] += '#' + std::to_string(file_serial_(input.str()));
    }
  for (const auto& [name, input] : by_name) text.append("\n").append(name).append("=").append(input);
  std::uint64_t h = 0xCBF29CE484222325u;
  for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001B3u;
  return known_[node] = h;
}

const cached* node_cache::find(std::uint64_t signature) const {
  const auto it = held_.find(signature);
  return it == held_.end() ? nullptr : &it->second;
}

void node_cache::put(std::uint64_t signature, cached c) { held_[signature] = std::move(c); }

void node_cache::keep(const std::vector<std::uint64_t>& wanted) {
  std::erase_if(
      held_, [&](const auto& entry) { return std::find(wanted.begin(), wanted.end(), entry.first) == wanted.end(); });
}

}  // namespace standin
