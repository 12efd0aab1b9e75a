// plugins/comfyui_standin/compute.hpp - what each node class makes of its inputs.  No loops, no host: may run anywhere.
#pragma once
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "plugins/comfyui_standin/json.hpp"
#include "plugins/comfyui_standin/png.hpp"
#include "plugins/comfyui_standin/render.hpp"

namespace standin {

using image_ptr = std::shared_ptr<const image>;

struct model {
  std::string name;
};  // a checkpoint's model, text encoder or decoder; an upscale model
struct conditioning {
  std::string text;
};
struct latent {
  recipe made_by;  // the size, and after a sampler the rest
  int batch = 1;
  bool sampled = false;
  std::vector<image_ptr> pixels;  // of VAEEncode: what it was made of
};
struct images {
  std::vector<image_ptr> all;
};
struct plain {
  json literal;
};  // an input that is no link

using value = std::variant<plain, model, conditioning, latent, images>;
using inputs = std::map<std::string, value>;

// A node failed, as an exception of a Python node would.
class node_failure : public std::runtime_error {
 public:
  node_failure(std::string type, const std::string& text) : std::runtime_error(text), type_(std::move(type)) {}
  const std::string& type() const noexcept { return type_; }

 private:
  std::string type_;
};

// The outputs of one node, except KSampler, LoadImage and the classes that store or show something.  Throws
// node_failure. Rendering and scaling take up to seconds: not for a loop.
std::vector<value> compute(const std::string& class_type, const inputs&);

// KSampler's output.
latent sampled(const inputs&);

// Typed access to an input; throws node_failure when it is missing or of another kind.
const json& literal(const inputs&, const std::string& name);
const latent& latent_in(const inputs&, const std::string& name);
const images& images_in(const inputs&, const std::string& name);

// A latent in the safetensors format: a header that names its shape, and noise that depends on its numbers.
std::string to_safetensors(const latent&);

}  // namespace standin
