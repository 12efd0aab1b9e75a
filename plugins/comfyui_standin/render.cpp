#include "plugins/comfyui_standin/render.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace standin {
namespace {

struct colour {
  float r = 0, g = 0, b = 0;
};
colour operator+(colour a, colour b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
colour operator*(colour a, float f) { return {a.r * f, a.g * f, a.b * f}; }
colour mix(colour a, colour b, float t) { return a * (1 - t) + b * t; }

float clamp01(float x) { return std::clamp(x, 0.0f, 1.0f); }
float smooth(float low, float high, float x) {
  const float t = clamp01((x - low) / (high - low));
  return t * t * (3 - 2 * t);
}

// The finaliser of splitmix64: every bit of the input stirs every bit of the output.
std::uint64_t stir(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
std::uint64_t hash_of(std::string_view s) {
  std::uint64_t h = 0xCBF29CE484222325u;
  for (const char c : s) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001B3u;
  return stir(h);
}

// Smooth noise on a grid that depends on a seed.
class field {
 public:
  explicit field(std::uint64_t seed) : seed_(static_cast<std::uint32_t>(stir(seed))) {}
  float cell(int x, int y) const {  // 0..1
    std::uint32_t h = static_cast<std::uint32_t>(x) * 0x8DA6B343u ^ static_cast<std::uint32_t>(y) * 0xD8163841u ^ seed_;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return static_cast<float>((h ^ h >> 15) >> 8) * (1.0f / 16'777'216.0f);
  }
  float at(float x, float y) const {
    const float fx = std::floor(x), fy = std::floor(y);
    const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
    const float tx = x - fx, ty = y - fy, sx = tx * tx * (3 - 2 * tx), sy = ty * ty * (3 - 2 * ty);
    const float top = cell(ix, iy) * (1 - sx) + cell(ix + 1, iy) * sx;
    const float bottom = cell(ix, iy + 1) * (1 - sx) + cell(ix + 1, iy + 1) * sx;
    return top * (1 - sy) + bottom * sy;
  }
  float octaves(float x, float y, int n) const {  // about 0..1
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < n; ++i, weight *= 0.5f) {
      sum += at(x, y) * weight;
      const float turned = x * 1.6f - y * 1.2f + 7.3f;  // turned by 37 degrees, so that no grid shows
      y = x * 1.2f + y * 1.6f + 3.1f;
      x = turned;
    }
    return sum;
  }

 private:
  std::uint32_t seed_;
};

struct palette {
  colour zenith, horizon, glow, land;
};

// Of the words in the prompt the first one known decides; without any, the text itself does.
palette palette_for(const std::string& words, std::uint64_t seed) {
  struct named {
    const char* word;
    palette colours;
  };
  static const std::array<named, 8> known = {{
      {"purple", {{0.05f, 0.02f, 0.17f}, {0.62f, 0.28f, 0.62f}, {1.00f, 0.62f, 0.80f}, {0.07f, 0.04f, 0.14f}}},
      {"sunset", {{0.12f, 0.10f, 0.30f}, {0.98f, 0.52f, 0.30f}, {1.00f, 0.85f, 0.55f}, {0.13f, 0.06f, 0.10f}}},
      {"forest", {{0.22f, 0.45f, 0.55f}, {0.83f, 0.90f, 0.76f}, {1.00f, 0.97f, 0.80f}, {0.03f, 0.13f, 0.09f}}},
      {"winter", {{0.30f, 0.45f, 0.68f}, {0.90f, 0.92f, 0.97f}, {1.00f, 0.98f, 0.94f}, {0.20f, 0.27f, 0.38f}}},
      {"ocean", {{0.05f, 0.22f, 0.42f}, {0.55f, 0.82f, 0.86f}, {1.00f, 0.94f, 0.78f}, {0.02f, 0.12f, 0.20f}}},
      {"night", {{0.01f, 0.02f, 0.07f}, {0.10f, 0.18f, 0.36f}, {0.85f, 0.90f, 1.00f}, {0.01f, 0.02f, 0.05f}}},
      {"desert", {{0.25f, 0.42f, 0.62f}, {0.97f, 0.80f, 0.58f}, {1.00f, 0.95f, 0.80f}, {0.33f, 0.15f, 0.08f}}},
      {"fire", {{0.10f, 0.02f, 0.03f}, {0.85f, 0.25f, 0.10f}, {1.00f, 0.80f, 0.30f}, {0.06f, 0.01f, 0.02f}}},
  }};
  std::size_t first = std::string::npos;
  const palette* chosen = nullptr;
  for (const named& n : known)
    if (const std::size_t at = words.find(n.word); at < first) {
      first = at;
      chosen = &n.colours;
    }
  if (chosen) return *chosen;
  return known[stir(seed ^ hash_of(words)) % known.size()].colours;
}

// Where the glass is: > 0 inside, growing towards the middle.  The unit is the picture's height; (0, 0) its middle.
float bottle(float x, float y) {
  float half = 0.052f + 0.118f * smooth(-0.17f, 0.03f, y);  // neck, shoulder, body
  if (y < -0.295f) half = 0.066f;                           // lip
  if (y > 0.29f) half -= 0.05f - std::sqrt(std::max(0.0f, 0.0025f - (y - 0.29f) * (y - 0.29f)));  // rounded foot
  return std::min(half - std::abs(x), std::min(y + 0.325f, 0.34f - y));
}

class scene {
 public:
  explicit scene(const recipe& r)
      : words_(lower(r.positive)),
        key_(stir(r.seed) ^ hash_of(words_) ^ hash_of(r.model) * 3 ^ hash_of(r.negative) * 7),
        clouds_(key_),
        land_(key_ + 1),
        stars_(key_ + 2),
        colours_(palette_for(words_, key_)),
        has_bottle_(words_.find("bottle") != std::string::npos),
        sun_x_(0.25f + 0.5f * stars_.cell(3, 4)),
        sun_y_(0.22f + 0.2f * stars_.cell(5, 6)),
        contrast_(static_cast<float>(0.75 + std::clamp(r.cfg, 0.0, 30.0) / 32)),
        aspect_(static_cast<float>(r.width) / static_cast<float>(r.height)) {}

  // u and v: 0..1 from left to right and from top to bottom.
  colour at(float u, float v) const {
    colour c = outside(u, v);
    if (has_bottle_) c = behind_glass(u, v, c);
    const float middle = 0.45f;  // contrast turns about this brightness
    c = {middle + (c.r - middle) * contrast_, middle + (c.g - middle) * contrast_, middle + (c.b - middle) * contrast_};
    const float edge = (u - 0.5f) * (u - 0.5f) + (v - 0.5f) * (v - 0.5f);
    return c * (1.08f - 0.55f * edge);
  }

 private:
  static std::string lower(std::string s) {
    for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return s;
  }
  colour sky(float u, float v) const {
    const float x = u * aspect_ * 2.6f, y = v * 2.6f;
    const float bend = clouds_.octaves(x + 3, y + 9, 3);
    const float cloud = clouds_.octaves(x + bend * 1.9f, y - bend * 1.3f, 5);
    colour c = mix(colours_.zenith, colours_.horizon, std::pow(clamp01(v / 0.68f), 1.6f));
    c = mix(c, mix(colours_.glow, colours_.horizon, clamp01(bend)), smooth(0.46f, 0.86f, cloud) * 0.75f);
    const float dx = (u - sun_x_) * aspect_, dy = v - sun_y_, far = std::sqrt(dx * dx + dy * dy);
    c = c + colours_.glow * (0.42f * std::exp(-far * 5.5f));
    c = c + colour{1, 0.97f, 0.92f} * (star(u, v) * (1 - smooth(0.2f, 0.6f, v)) * (1 - smooth(0.5f, 0.75f, cloud)));
    return mix(c, mix(colours_.glow, {1, 1, 1}, 0.25f), smooth(0.066f, 0.061f, far));
  }
  float star(float u, float v) const {
    const float size = 90, x = u * aspect_ * size, y = v * size;
    const int cx = static_cast<int>(std::floor(x)), cy = static_cast<int>(std::floor(y));
    const float chance = stars_.cell(cx, cy);
    if (chance < 0.93f) return 0;
    const float dx = x - static_cast<float>(cx) - 0.2f - 0.6f * stars_.cell(cx + 911, cy);
    const float dy = y - static_cast<float>(cy) - 0.2f - 0.6f * stars_.cell(cx, cy + 577);
    return smooth(0.24f, 0.0f, std::sqrt(dx * dx + dy * dy)) * (chance - 0.93f) * 14;
  }
  float ridge(float u, int layer) const {  // the height of its top, as v
    const float x = u * aspect_ * (1.5f + 0.9f * static_cast<float>(layer)) + 17.0f * static_cast<float>(layer);
    const float n = land_.octaves(x, static_cast<float>(layer) * 5.3f, 5);
    return 0.57f + 0.055f * static_cast<float>(layer) - (n - 0.42f) * (0.62f - 0.11f * static_cast<float>(layer));
  }
  colour outside(float u, float v) const {
    constexpr float shore = 0.8f;
    const bool water = v > shore;
    float su = u, sv = v;
    if (water) {  // what stands above the shore, upside down and stirred
      const float depth = (v - shore) / (1 - shore);
      su += (clouds_.at(u * aspect_ * 14, v * 90) - 0.5f) * 0.03f * (0.3f + depth);
      sv = shore - (v - shore) * 1.5f - (clouds_.at(u * aspect_ * 9 + 40, v * 70) - 0.5f) * 0.05f;
    }
    colour c{};
    int in_front = -1;
    for (int layer = 3; layer >= 0 && in_front < 0; --layer)
      if (sv > ridge(su, layer)) in_front = layer;
    if (in_front < 0) {
      c = sky(su, sv);
    } else {
      const float near = static_cast<float>(in_front + 1) / 4;
      const float grain = land_.octaves(su * aspect_ * 26, sv * 34 + static_cast<float>(in_front) * 9, 3);
      const colour rock = mix(colours_.land, colours_.horizon, (grain - 0.4f) * 0.22f);
      const float mist = (1 - near) * 0.7f + 0.3f * smooth(0.62f, shore, sv) * (1 - near * 0.6f);
      c = mix(rock, mix(colours_.horizon, colours_.glow, 0.2f), clamp01(mist));
    }
    if (water) c = mix(c * 0.82f, colours_.zenith, 0.22f);
    return c;
  }
  colour behind_glass(float u, float v, colour outer) const {
    const float x = (u - 0.5f) * aspect_, y = v - 0.56f, inside = bottle(x, y);
    if (inside <= 0) {
      const float halo = smooth(-0.10f, 0.0f, inside) * 0.16f;
      return mix(outer, colours_.glow, halo);
    }
    const float angle =
        11.0f * std::sqrt(x * x + y * y * 0.7f) - std::atan2(y - 0.1f, x);  // times two: two arms, no seam
    const float arms = 0.5f + 0.5f * std::sin(angle * 2 + 3 * clouds_.octaves(x * 9, y * 9, 3));
    const float core = std::exp(-(x * x * 55 + (y - 0.1f) * (y - 0.1f) * 38));
    const float dust = clouds_.octaves(x * 11 + 31, y * 11 + 5, 5);
    colour galaxy = mix(colours_.zenith * 0.6f, colours_.horizon, clamp01(arms * dust * 1.5f));
    galaxy = mix(galaxy, colours_.glow, clamp01(core * 0.9f + arms * core * 0.5f));
    galaxy = galaxy + colour{1, 1, 1} * (star(u * 1.9f + 0.3f, v * 1.9f) * 0.9f);
    const float rim = smooth(0.022f, 0.0f, inside),
                shine = smooth(0.014f, 0.0f, std::abs(x + 0.115f)) * smooth(0.0f, 0.05f, inside);
    colour c = mix(outer, galaxy, 0.82f);
    c = mix(c, colours_.glow, rim * 0.62f);
    return mix(c, {1, 1, 1}, shine * 0.32f);
  }

  std::string words_;
  std::uint64_t key_;
  field clouds_, land_, stars_;
  palette colours_;
  bool has_bottle_;
  float sun_x_, sun_y_, contrast_, aspect_;
};

std::uint8_t byte_of(float x) { return static_cast<std::uint8_t>(std::lround(clamp01(x) * 255.0f)); }

}  // namespace

image render(const recipe& r, double done) {
  image out{std::max(r.width, 1), std::max(r.height, 1), {}};
  out.rgb.reserve(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 3);
  const scene shown(r);
  const field noise(stir(r.seed) + 99);
  const auto left = static_cast<float>(1 - std::clamp(done, 0.0, 1.0));
  const float grain = std::min(1.0f, left * 1.15f + 0.55f / static_cast<float>(std::max(r.steps, 1) * 4));
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      colour c = shown.at((static_cast<float>(x) + 0.5f) / static_cast<float>(out.width),
                          (static_cast<float>(y) + 0.5f) / static_cast<float>(out.height));
      if (grain > 0.01f) c = mix(c, {noise.cell(x * 3, y), noise.cell(x * 3 + 1, y), noise.cell(x * 3 + 2, y)}, grain);
      out.rgb.insert(out.rgb.end(), {byte_of(c.r), byte_of(c.g), byte_of(c.b)});
    }
  return out;
}

image pattern(const std::string& bytes) {
  const std::uint64_t key = hash_of(bytes);
  image out{64, 64, {}};
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const std::uint64_t stripe = stir(key + static_cast<std::uint64_t>((x + y) / 8));
      for (int channel = 0; channel < 3; ++channel) out.rgb.push_back(static_cast<std::uint8_t>(stripe >> channel * 8));
    }
  return out;
}

}  // namespace standin
