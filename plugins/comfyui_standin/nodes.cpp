#include "plugins/comfyui_standin/nodes.hpp"

namespace standin {
namespace {

constexpr const char* samplers =
    "euler,euler_ancestral,heun,dpm_2,dpm_2_ancestral,lms,dpm_fast,dpm_adaptive,dpmpp_2s_ancestral,dpmpp_sde,dpmpp_2m,"
    "dpmpp_2m_sde,dpmpp_3m_sde,ddpm,lcm,ddim,uni_pc,uni_pc_bh2";
constexpr const char* schedulers = "simple,sgm_uniform,karras,exponential,ddim_uniform,beta,normal";
constexpr const char* upscalers = "nearest-exact,bilinear,area,bicubic,lanczos";
constexpr double max_seed = 18446744073709551615.0, max_size = 16384;

std::vector<node_spec> table() {
  return {
      {"CheckpointLoaderSimple", "Load Checkpoint", "loaders", {{"ckpt_name", "COMBO"}}, {"MODEL", "CLIP", "VAE"}},
      {"LoraLoader",
       "Load LoRA",
       "loaders",
       {{"model", "MODEL"},
        {"clip", "CLIP"},
        {"lora_name", "COMBO"},
        {"strength_model", "FLOAT", -100, 100},
        {"strength_clip", "FLOAT", -100, 100}},
       {"MODEL", "CLIP"}},
      {"CLIPTextEncode",
       "CLIP Text Encode (Prompt)",
       "conditioning",
       {{"text", "STRING"}, {"clip", "CLIP"}},
       {"CONDITIONING"}},
      {"EmptyLatentImage",
       "Empty Latent Image",
       "latent",
       {{"width", "INT", 16, max_size}, {"height", "INT", 16, max_size}, {"batch_size", "INT", 1, 4096}},
       {"LATENT"}},
      {"KSampler",
       "KSampler",
       "sampling",
       {{"model", "MODEL"},
        {"seed", "INT", 0, max_seed},
        {"steps", "INT", 1, 10000},
        {"cfg", "FLOAT", 0, 100},
        {"sampler_name", "COMBO", 0, 0, samplers},
        {"scheduler", "COMBO", 0, 0, schedulers},
        {"positive", "CONDITIONING"},
        {"negative", "CONDITIONING"},
        {"latent_image", "LATENT"},
        {"denoise", "FLOAT", 0, 1}},
       {"LATENT"}},
      {"VAEDecode", "VAE Decode", "latent", {{"samples", "LATENT"}, {"vae", "VAE"}}, {"IMAGE"}},
      {"VAEEncode", "VAE Encode", "latent", {{"pixels", "IMAGE"}, {"vae", "VAE"}}, {"LATENT"}},
      {"SaveImage", "Save Image", "image", {{"images", "IMAGE"}, {"filename_prefix", "STRING"}}, {}, true},
      {"PreviewImage", "Preview Image", "image", {{"images", "IMAGE"}}, {}, true},
      {"PreviewAny", "Preview as Text", "utils", {{"source", "*"}}, {}, true},
      {"SaveLatent", "SaveLatent", "_for_testing", {{"samples", "LATENT"}, {"filename_prefix", "STRING"}}, {}, true},
      {"LoadImage", "Load Image", "image", {{"image", "COMBO"}}, {"IMAGE", "MASK"}},
      {"EmptyImage",
       "EmptyImage",
       "image",
       {{"width", "INT", 1, max_size},
        {"height", "INT", 1, max_size},
        {"batch_size", "INT", 1, 4096},
        {"color", "INT", 0, 0xFFFFFF}},
       {"IMAGE"}},
      {"ImageScale",
       "Upscale Image",
       "image/upscaling",
       {{"image", "IMAGE"},
        {"upscale_method", "COMBO", 0, 0, upscalers},
        {"width", "INT", 0, max_size},
        {"height", "INT", 0, max_size},
        {"crop", "COMBO", 0, 0, "disabled,center"}},
       {"IMAGE"}},
      {"ImageScaleBy",
       "Upscale Image By",
       "image/upscaling",
       {{"image", "IMAGE"}, {"upscale_method", "COMBO", 0, 0, upscalers}, {"scale_by", "FLOAT", 0.01, 8}},
       {"IMAGE"}},
      {"ImageInvert", "Invert Image", "image", {{"image", "IMAGE"}}, {"IMAGE"}},
      {"UpscaleModelLoader", "Load Upscale Model", "loaders", {{"model_name", "COMBO"}}, {"UPSCALE_MODEL"}},
      {"ImageUpscaleWithModel",
       "Upscale Image (using Model)",
       "image/upscaling",
       {{"upscale_model", "UPSCALE_MODEL"}, {"image", "IMAGE"}},
       {"IMAGE"}},
  };
}

json describe(const input_spec& input) {
  json entry = json::array();
  const std::string_view type = input.type;
  json options = json::object();
  if (type == "COMBO") {
    json choices = json::array();
    for (std::string_view rest = input.choices; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      choices.push(json::text(std::string(one)));
      rest.remove_prefix(one.size() < rest.size() ? one.size() + 1 : rest.size());
    }
    entry.push(std::move(choices));
  } else {
    entry.push(json::text(std::string(type)));
  }
  if (type == "INT" || type == "FLOAT") {
    const auto number = [&](double n) {
      return n >= max_seed   ? json::number("18446744073709551615")
             : type == "INT" ? json::integer(static_cast<std::int64_t>(n))
                             : json::number(std::to_string(n));
    };
    options.set("min", number(input.min));
    options.set("max", number(input.max));
  }
  entry.push(std::move(options));
  return entry;
}

}  // namespace

const std::vector<node_spec>& all_nodes() {
  static const std::vector<node_spec> nodes = table();
  return nodes;
}

const node_spec* find_node(std::string_view class_type) {
  for (const node_spec& n : all_nodes())
    if (class_type == n.name) return &n;
  return nullptr;
}

json describe(const node_spec& node) {
  json inputs = json::object(), required = json::object(), order = json::array(), outputs = json::array();
  for (const input_spec& input : node.inputs) {
    required.set(input.name, describe(input));
    order.push(json::text(input.name));
  }
  inputs.set("required", std::move(required));
  for (const char* type : node.outputs) outputs.push(json::text(type));
  json orders = json::object();
  orders.set("required", std::move(order));
  json out = json::object();
  out.set("input", std::move(inputs));
  out.set("input_order", std::move(orders));
  out.set("output", outputs);
  out.set("output_name", std::move(outputs));
  out.set("name", json::text(node.name));
  out.set("display_name", json::text(node.title));
  out.set("description", json::text(""));
  out.set("category", json::text(node.category));
  out.set("output_node", json::boolean(node.is_output));
  return out;
}

std::optional<link> link_of(const json& value) {
  if (!value.is_array() || value.items().size() != 2) return std::nullopt;
  const json &node = value.items()[0], &slot = value.items()[1];
  if (!node.is_text() || !slot.is_number() || slot.as_integer(-1) < 0) return std::nullopt;
  return link{node.str(), static_cast<std::size_t>(slot.as_integer())};
}

file_name file_named(std::string_view annotated) {
  for (const std::string_view type : {"output", "input", "temp"}) {
    const std::string ending = " [" + std::string(type) + "]";
    if (annotated.size() >= ending.size() && annotated.substr(annotated.size() - ending.size()) == ending)
      return {std::string(type), std::string(annotated.substr(0, annotated.size() - ending.size()))};
  }
  return {"input", std::string(annotated)};
}

}  // namespace standin
