// plugins/comfyui_standin/cache.hpp - what nodes made last time, so that equal nodes are not run again.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/comfyui_standin/compute.hpp"
#include "plugins/comfyui_standin/json.hpp"

namespace standin {

// The signature of each node of a graph: equal for nodes that would make the same.  Only for nodes that validate()
// found sound.
class signatures {
 public:
  // file_serial: a number that changes with the contents of an annotated file name, for LoadImage.
  signatures(const json& graph, std::function<std::uint64_t(const std::string&)> file_serial)
      : graph_(graph), file_serial_(std::move(file_serial)) {}
  std::uint64_t of(const std::string& node);

 private:
  const json& graph_;
  std::function<std::uint64_t(const std::string&)> file_serial_;
  std::map<std::string, std::uint64_t> known_;
};

struct cached {
  std::vector<value> outputs;
  std::optional<json> shown;  // what the history lists for it
};

// Holds what the last prompt used, as ComfyUI's default does.
class node_cache {
 public:
  const cached* find(std::uint64_t signature) const;
  void put(std::uint64_t signature, cached);
  // Forgets all but these.
  void keep(const std::vector<std::uint64_t>& signatures);
  void clear() { held_.clear(); }

 private:
  std::unordered_map<std::uint64_t, cached> held_;
};

}  // namespace standin
