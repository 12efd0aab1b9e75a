// plugins/comfyui_standin/render.hpp - the picture that stands for what a model would have made of the numbers.
#pragma once
#include <cstdint>
#include <string>

#include "plugins/comfyui_standin/png.hpp"

namespace standin {

// What a sampler was told.  Equal recipes give equal pictures, to the byte.
struct recipe {
  int width = 512, height = 512;  // pixels
  std::uint64_t seed = 0;
  int steps = 20;  // few steps leave grain
  double cfg = 8;  // more is more contrast
  double denoise = 1;
  std::string positive, negative;  // their words choose colours and what is in the picture
  std::string model;
};

// A landscape under a glowing sky.  done: 0 only noise .. 1 the finished picture, as previews show it.  Takes about 0.2
// microseconds per pixel in a release build: not for a loop.
image render(const recipe&, double done = 1);

// A picture for bytes that are no image this stand-in can read: stripes that depend on the bytes.
image pattern(const std::string& bytes);

}  // namespace standin
