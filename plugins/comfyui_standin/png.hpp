// plugins/comfyui_standin/png.hpp - images in memory, and PNG out and in.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace standin {

// 8-bit RGB, row by row from the top, 3 * width * height bytes.
struct image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

// A PNG of colour type 2.  Throws std::length_error for an empty image.  May take tens of milliseconds.
std::string to_png(const image&);

// The image in a PNG of 8 bits per sample that is not interlaced (grey, RGB, palette, with or without alpha, which is
// dropped); nothing when the bytes are anything else, damaged, or over 64 million pixels.
std::optional<image> from_png(std::string_view bytes);

// The image at another size, at least 1 x 1: nearest neighbour, or the mean of what each new pixel covers.
image resized(const image&, int width, int height, bool nearest);

}  // namespace standin
