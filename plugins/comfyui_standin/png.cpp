#include "plugins/comfyui_standin/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace standin {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);

void put32(std::string& out, std::uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 0xFF);
}

std::uint32_t get32(std::string_view s) {
  std::uint32_t n = 0;
  for (int i = 0; i < 4; ++i) n = n << 8 | static_cast<std::uint8_t>(s[static_cast<std::size_t>(i)]);
  return n;
}

std::uint32_t crc_of(std::string_view s) {
  return static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(s.data()), static_cast<uInt>(s.size())));
}

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  put32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t covered = out.size();
  out.append(type).append(data);
  put32(out, crc_of(std::string_view(out).substr(covered)));
}

std::uint8_t paeth(int left, int up, int corner) {
  const int p = left + up - corner;
  const int dl = std::abs(p - left), du = std::abs(p - up), dc = std::abs(p - corner);
  return static_cast<std::uint8_t>(dl <= du && dl <= dc ? left : du <= dc ? up : corner);
}

// What filter `kind` predicts for one byte.
std::uint8_t predicted(int kind, int left, int up, int corner) {
  switch (kind) {
    case 1:
      return static_cast<std::uint8_t>(left);
    case 2:
      return static_cast<std::uint8_t>(up);
    case 3:
      return static_cast<std::uint8_t>((left + up) / 2);
    case 4:
      return paeth(left, up, corner);
    default:
      return 0;
  }
}

// The rows, each with the filter whose result is smallest: what deflate likes best.
std::string filtered(const image& picture) {
  const std::size_t stride = static_cast<std::size_t>(picture.width) * 3;
  std::string out, row(stride, '\0'), best;
  out.reserve((stride + 1) * static_cast<std::size_t>(picture.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
    const std::uint8_t* here = picture.rgb.data() + y * stride;
    const std::uint8_t* above = y ? here - stride : nullptr;
    std::size_t least = SIZE_MAX;
    int chosen = 0;
    for (const int kind : {1, 2, 4}) {
      std::size_t sum = 0;
      for (std::size_t i = 0; i < stride; ++i) {
        const int left = i >= 3 ? here[i - 3] : 0, up = above ? above[i] : 0,
                  corner = above && i >= 3 ? above[i - 3] : 0;
        const auto rest = static_cast<std::uint8_t>(here[i] - predicted(kind, left, up, corner));
        row[i] = static_cast<char>(rest);
        sum += rest < 128 ? rest : 256u - rest;
      }
      if (sum >= least) continue;
      least = sum;
      chosen = kind;
      best = row;
    }
    out += static_cast<char>(chosen);
    out += best;
  }
  return out;
}

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), 6) != Z_OK)
    throw std::runtime_error("deflate failed");
  out.resize(size);
  return out;
}

struct parts {  // of a PNG file
  std::uint32_t width = 0, height = 0;
  int samples = 0;
  bool has_palette = false;
  std::string palette, packed;
};

// The header, palette and image data of a PNG this file can read.
std::optional<parts> parts_of(std::string_view bytes) {
  if (bytes.substr(0, 8) != signature) return std::nullopt;
  parts p;
  for (bytes.remove_prefix(8); bytes.size() >= 12;) {
    const std::size_t size = get32(bytes);
    if (size > bytes.size() - 12) return std::nullopt;
    const std::string_view type = bytes.substr(4, 4), data = bytes.substr(8, size);
    if (crc_of(bytes.substr(4, 4 + size)) != get32(bytes.substr(8 + size))) return std::nullopt;
    if (type == "IHDR") {
      if (size != 13 || data[8] != 8 || data[12] != 0) return std::nullopt;
      p.width = get32(data);
      p.height = get32(data.substr(4));
      static constexpr std::array<int, 7> samples_of = {1, 0, 3, 1, 2, 0, 4};
      const auto colour = static_cast<std::uint8_t>(data[9]);
      p.samples = colour < samples_of.size() ? samples_of[colour] : 0;
      p.has_palette = colour == 3;
    } else if (type == "PLTE") {
      p.palette = data;
    } else if (type == "IDAT") {
      p.packed += data;
    } else if (type == "IEND") {
      const bool sensible = p.samples && p.width && p.height && p.width <= 32'768 && p.height <= 32'768 &&
                            std::uint64_t{p.width} * p.height <= 64'000'000;
      return sensible ? std::optional(std::move(p)) : std::nullopt;
    }
    bytes.remove_prefix(12 + size);
  }
  return std::nullopt;
}

// Takes the filters off, in place; false when a row names no filter.
bool unfilter(std::string& rows, std::size_t stride, std::size_t samples, std::size_t height) {
  for (std::size_t y = 0; y < height; ++y) {
    auto* here = reinterpret_cast<std::uint8_t*>(rows.data()) + y * (stride + 1) + 1;
    const std::uint8_t* above = y ? here - stride - 1 : nullptr;
    const int kind = here[-1];
    if (kind > 4) return false;
    for (std::size_t i = 0; i < stride; ++i) {
      const int left = i >= samples ? here[i - samples] : 0, up = above ? above[i] : 0,
                corner = above && i >= samples ? above[i - samples] : 0;
      here[i] = static_cast<std::uint8_t>(here[i] + predicted(kind, left, up, corner));
    }
  }
  return true;
}

}  // namespace

std::string to_png(const image& picture) {
  if (picture.width < 1 || picture.height < 1) throw std::length_error("an image without pixels");
  std::string out(signature), head;
  put32(head, static_cast<std::uint32_t>(picture.width));
  put32(head, static_cast<std::uint32_t>(picture.height));
  head.append({8, 2, 0, 0, 0});  // bits, RGB, deflate, adaptive filters, not interlaced
  put_chunk(out, "IHDR", head);
  put_chunk(out, "IDAT", deflated(filtered(picture)));
  put_chunk(out, "IEND", {});
  return out;
}

std::optional<image> from_png(std::string_view bytes) {
  const std::optional<parts> p = parts_of(bytes);
  if (!p) return std::nullopt;
  const auto samples = static_cast<std::size_t>(p->samples);
  const std::size_t stride = p->width * samples;
  std::string rows((stride + 1) * p->height, '\0');
  uLongf size = static_cast<uLongf>(rows.size());
  if (uncompress(reinterpret_cast<Bytef*>(rows.data()), &size, reinterpret_cast<const Bytef*>(p->packed.data()),
                 static_cast<uLong>(p->packed.size())) != Z_OK ||
      size != rows.size() || !unfilter(rows, stride, samples, p->height))
    return std::nullopt;
  image picture{static_cast<int>(p->width), static_cast<int>(p->height), {}};
  picture.rgb.reserve(std::size_t{p->width} * p->height * 3);
  for (std::size_t y = 0; y < p->height; ++y)
    for (std::size_t x = 0; x < p->width; ++x) {
      const auto* at = reinterpret_cast<const std::uint8_t*>(rows.data()) + y * (stride + 1) + 1 + x * samples;
      if (p->has_palette && (at[0] + 1u) * 3 > p->palette.size()) return std::nullopt;
      for (std::size_t i = 0; i < 3; ++i)
        picture.rgb.push_back(p->has_palette ? static_cast<std::uint8_t>(p->palette[at[0] * 3u + i])
                              : samples >= 3 ? at[i]
                                             : at[0]);
    }
  return picture;
}

image resized(const image& from, int width, int height, bool nearest) {
  image to{std::max(width, 1), std::max(height, 1), {}};
  to.rgb.resize(static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height) * 3);
  const double sx = static_cast<double>(from.width) / to.width, sy = static_cast<double>(from.height) / to.height;
  const auto at = [&](int x, int y, int channel) {
    x = std::clamp(x, 0, from.width - 1);
    y = std::clamp(y, 0, from.height - 1);
    return from
        .rgb[(static_cast<std::size_t>(y) * static_cast<std::size_t>(from.width) + static_cast<std::size_t>(x)) * 3 +
             static_cast<std::size_t>(channel)];
  };
  std::size_t i = 0;
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x)
      for (int channel = 0; channel < 3; ++channel) {
        if (nearest) {
          to.rgb[i++] = at(static_cast<int>((x + 0.5) * sx), static_cast<int>((y + 0.5) * sy), channel);
          continue;
        }
        // Four samples inside the new pixel, each between its neighbours: smooth both up and down.
        double sum = 0;
        for (const double oy : {0.25, 0.75})
          for (const double ox : {0.25, 0.75}) {
            const double fx = (x + ox) * sx - 0.5, fy = (y + oy) * sy - 0.5;
            const int ix = static_cast<int>(fx < 0 ? fx - 1 : fx), iy = static_cast<int>(fy < 0 ? fy - 1 : fy);
            const double dx = fx - ix, dy = fy - iy;
            sum += (at(ix, iy, channel) * (1 - dx) + at(ix + 1, iy, channel) * dx) * (1 - dy) +
                   (at(ix, iy + 1, channel) * (1 - dx) + at(ix + 1, iy + 1, channel) * dx) * dy;
          }
        to.rgb[i++] = static_cast<std::uint8_t>(std::lround(sum / 4));
      }
  return to;
}

}  // namespace standin
