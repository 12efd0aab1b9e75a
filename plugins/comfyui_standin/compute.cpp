#include "plugins/comfyui_standin/compute.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace standin {
namespace {

template <class T>
const T& input(const inputs& in, const std::string& name) {
  const auto it = in.find(name);
  if (it == in.end()) throw node_failure("KeyError", '\'' + name + '\'');
  if (const T* typed = std::get_if<T>(&it->second)) return *typed;
  throw node_failure("TypeError", "input " + name + " is of another kind");
}

double number(const inputs& in, const std::string& name) {
  const json& value = literal(in, name);
  return value.is_text() ? std::strtod(value.str().c_str(), nullptr) : value.as_real();
}

// What a graphics card would say to a picture that is far too large.
void must_fit(double width, double height, double count = 1) {
  if (width * height * count > 64e6) throw node_failure("OutOfMemoryError", "Allocation on device");
}

image_ptr shared(image picture) { return std::make_shared<const image>(std::move(picture)); }

template <class F>
images each(const images& from, F&& f) {
  images out;
  for (const image_ptr& one : from.all) out.all.push_back(shared(f(*one)));
  return out;
}

// How much a model named "4x-UltraSharp", "RealESRGAN_x2" and so on enlarges.
int factor_of(const std::string& name) {
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char a = name[i], b = name[i + 1];
    if (a >= '1' && a <= '8' && (b == 'x' || b == 'X')) return a - '0';
    if ((a == 'x' || a == 'X') && b >= '1' && b <= '8') return b - '0';
  }
  return 4;
}

image cropped(const image& from, int width, int height) {  // to the shape of width x height, about the middle
  const double wanted = static_cast<double>(width) / height, shape = static_cast<double>(from.width) / from.height;
  const int w = shape > wanted ? std::max(1, static_cast<int>(from.height * wanted)) : from.width;
  const int h = shape > wanted ? from.height : std::max(1, static_cast<int>(from.width / wanted));
  image out{w, h, {}};
  for (int y = 0; y < h; ++y) {
    const auto row = static_cast<std::size_t>((y + (from.height - h) / 2) * from.width + (from.width - w) / 2) * 3;
    out.rgb.insert(out.rgb.end(), from.rgb.begin() + static_cast<std::ptrdiff_t>(row),
                   from.rgb.begin() + static_cast<std::ptrdiff_t>(row + static_cast<std::size_t>(w) * 3));
  }
  return out;
}

images scaled(const inputs& in) {
  int width = static_cast<int>(number(in, "width")), height = static_cast<int>(number(in, "height"));
  const bool nearest = literal(in, "upscale_method").str() == "nearest-exact",
             crop = literal(in, "crop").str() == "center";
  return each(images_in(in, "image"), [&](const image& one) {
    const int w = width ? width : height ? one.width * height / one.height : one.width;  // 0: keeps the shape
    const int h = height ? height : width ? one.height * width / one.width : one.height;
    must_fit(w, h);
    return resized(crop ? cropped(one, w, h) : one, w, h, nearest);
  });
}

images decoded(const latent& samples) {
  images out;
  must_fit(samples.made_by.width, samples.made_by.height, samples.batch);
  for (int i = 0; i < samples.batch; ++i) {
    if (!samples.sampled && static_cast<std::size_t>(i) < samples.pixels.size()) {
      out.all.push_back(samples.pixels[static_cast<std::size_t>(i)]);
      continue;
    }
    recipe r = samples.made_by;
    r.seed += static_cast<std::uint64_t>(i);
    image picture = render(r, samples.sampled ? 1 : 0);
    if (!samples.pixels.empty() && r.denoise < 1) {  // image to image: the rest of the first picture shows through
      const image below = resized(*samples.pixels[static_cast<std::size_t>(i) % samples.pixels.size()], picture.width,
                                  picture.height, false);
      for (std::size_t k = 0; k < picture.rgb.size(); ++k)
        picture.rgb[k] = static_cast<std::uint8_t>(picture.rgb[k] * r.denoise + below.rgb[k] * (1 - r.denoise));
    }
    out.all.push_back(shared(std::move(picture)));
  }
  return out;
}

images plain_colour(const inputs& in) {
  const auto colour = static_cast<std::uint32_t>(number(in, "color"));
  must_fit(number(in, "width"), number(in, "height"), number(in, "batch_size"));
  image one{static_cast<int>(number(in, "width")), static_cast<int>(number(in, "height")), {}};
  for (int i = 0; i < one.width * one.height; ++i)
    for (const int shift : {16, 8, 0}) one.rgb.push_back(static_cast<std::uint8_t>(colour >> shift));
  return images{std::vector<image_ptr>(static_cast<std::size_t>(number(in, "batch_size")), shared(std::move(one)))};
}

latent encoded(const images& pixels) {
  latent out;
  out.pixels = pixels.all;
  out.batch = static_cast<int>(pixels.all.size());
  if (!pixels.all.empty()) {
    out.made_by.width = pixels.all[0]->width;
    out.made_by.height = pixels.all[0]->height;
  }
  return out;
}

latent empty_latent(const inputs& in) {
  latent out;
  out.made_by.width = static_cast<int>(number(in, "width")) / 8 * 8;
  out.made_by.height = static_cast<int>(number(in, "height")) / 8 * 8;
  out.batch = static_cast<int>(number(in, "batch_size"));
  return out;
}

}  // namespace

const json& literal(const inputs& in, const std::string& name) { return input<plain>(in, name).literal; }
const latent& latent_in(const inputs& in, const std::string& name) { return input<latent>(in, name); }
const images& images_in(const inputs& in, const std::string& name) { return input<images>(in, name); }

latent sampled(const inputs& in) {
  latent out = latent_in(in, "latent_image");
  out.sampled = true;
  recipe& r = out.made_by;
  r.seed = literal(in, "seed").as_unsigned();
  r.steps = static_cast<int>(number(in, "steps"));
  r.cfg = number(in, "cfg");
  r.denoise = number(in, "denoise");
  r.positive = input<conditioning>(in, "positive").text;
  r.negative = input<conditioning>(in, "negative").text;
  r.model =
      input<model>(in, "model").name + '/' + literal(in, "sampler_name").str() + '/' + literal(in, "scheduler").str();
  return out;
}

std::vector<value> compute(const std::string& type, const inputs& in) {
  if (type == "CheckpointLoaderSimple") return std::vector<value>(3, model{literal(in, "ckpt_name").str()});
  if (type == "LoraLoader") {
    const std::string tail = '+' + literal(in, "lora_name").str();
    return {model{input<model>(in, "model").name + tail}, model{input<model>(in, "clip").name + tail}};
  }
  if (type == "UpscaleModelLoader") return {model{literal(in, "model_name").str()}};
  if (type == "CLIPTextEncode") {
    const json& text = literal(in, "text");
    return {conditioning{text.is_text() ? text.str() : text.print()}};
  }
  if (type == "EmptyLatentImage") return {empty_latent(in)};
  if (type == "EmptyImage") return {plain_colour(in)};
  if (type == "VAEDecode") return {decoded(latent_in(in, "samples"))};
  if (type == "VAEEncode") return {encoded(images_in(in, "pixels"))};
  if (type == "ImageScale") return {scaled(in)};
  if (type == "ImageScaleBy") {
    const double by = number(in, "scale_by");
    const bool nearest = literal(in, "upscale_method").str() == "nearest-exact";
    return {each(images_in(in, "image"), [&](const image& one) {
      must_fit(one.width * by, one.height * by);
      return resized(one, static_cast<int>(std::lround(one.width * by)), static_cast<int>(std::lround(one.height * by)),
                     nearest);
    })};
  }
  if (type == "ImageUpscaleWithModel") {
    const int by = factor_of(input<model>(in, "upscale_model").name);
    return {each(images_in(in, "image"), [&](const image& one) {
      must_fit(one.width * by, one.height * by);
      return resized(one, one.width * by, one.height * by, false);
    })};
  }
  if (type == "ImageInvert")
    return {each(images_in(in, "image"), [](image one) {
      for (std::uint8_t& sample : one.rgb) sample = static_cast<std::uint8_t>(255 - sample);
      return one;
    })};
  throw node_failure("KeyError", '\'' + type + '\'');
}

std::string to_safetensors(const latent& l) {
  const recipe& r = l.made_by;
  const auto w = static_cast<std::size_t>(r.width / 8), h = static_cast<std::size_t>(r.height / 8);
  const std::size_t size = static_cast<std::size_t>(l.batch) * 4 * w * h * 4;
  std::string head = "{\"latent_tensor\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(l.batch) + ",4," +
                     std::to_string(h) + ',' + std::to_string(w) + "],\"data_offsets\":[0," + std::to_string(size) +
                     "]}}";
  while (head.size() % 8) head += ' ';
  std::string out;
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(head.size() >> shift & 0xFF);
  out += head;
  std::uint64_t state = r.seed * 0x9E3779B97F4A7C15u + 1;
  for (std::size_t i = 0; i < size / 4; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // The bits of a float between 1 and 2, little-endian.
    const auto bits = static_cast<std::uint32_t>(0x3F800000u | state >> 41);
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(bits >> shift & 0xFF);
  }
  return out;
}

}  // namespace standin
