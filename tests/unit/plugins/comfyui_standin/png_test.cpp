#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "plugins/comfyui_standin/png.hpp"
#include "plugins/comfyui_standin/render.hpp"

using namespace standin;

namespace {

std::uint32_t be32(const std::string& s, std::size_t at) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<std::uint8_t>(s.at(at + i));
  return n;
}

// A reader of its own, written from the PNG specification: chunk by chunk, each CRC checked, zlib's streaming inflate,
// and all five filters.  REQUIREs at every step, so a file it returns pixels for is sound.
std::vector<std::uint8_t> pixels_of(const std::string& png, std::uint32_t& width, std::uint32_t& height) {
  REQUIRE(png.substr(0, 8) == std::string("\x89PNG\r\n\x1a\n", 8));
  std::string packed;
  bool ended = false;
  for (std::size_t at = 8; at < png.size();) {
    REQUIRE_FALSE(ended);
    const std::uint32_t size = be32(png, at);
    const std::string type = png.substr(at + 4, 4);
    REQUIRE(at + 12 + size <= png.size());
    const auto* covered = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    REQUIRE(crc32(0, covered, size + 4) == be32(png, at + 8 + size));
    if (type == "IHDR") {
      width = be32(png, at + 8);
      height = be32(png, at + 12);
      REQUIRE(png.substr(at + 16, 5) == std::string("\x08\x02\x00\x00\x00", 5));
    }
    if (type == "IDAT") packed += png.substr(at + 8, size);
    ended = type == "IEND";
    at += 12 + size;
  }
  REQUIRE(ended);
  std::vector<std::uint8_t> raw((width * 3u + 1) * height + 1);
  z_stream z{};
  REQUIRE(inflateInit(&z) == Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(packed.data());
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = raw.data();
  z.avail_out = static_cast<uInt>(raw.size());
  const int end = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  REQUIRE(end == Z_STREAM_END);
  REQUIRE(z.total_out == raw.size() - 1);
  std::vector<std::uint8_t> out(width * height * 3u);
  const std::size_t stride = width * 3u;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < stride; ++x) {
      const int filter = raw[y * (stride + 1)];
      const int a = x >= 3 ? out[y * stride + x - 3] : 0, b = y ? out[(y - 1) * stride + x] : 0,
                c = x >= 3 && y ? out[(y - 1) * stride + x - 3] : 0;
      int guess = 0;
      if (filter == 1) guess = a;
      if (filter == 2) guess = b;
      if (filter == 3) guess = (a + b) / 2;
      if (filter == 4) {
        const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
        guess = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      }
      REQUIRE(filter <= 4);
      out[y * stride + x] = static_cast<std::uint8_t>(raw[y * (stride + 1) + 1 + x] + guess);
    }
  return out;
}

image striped(int width, int height) {
  image out{width, height, {}};
  for (int i = 0; i < width * height * 3; ++i) out.rgb.push_back(static_cast<std::uint8_t>(i * 37 + i / 11));
  return out;
}

recipe small() {
  recipe r;
  r.width = 48;
  r.height = 32;
  r.seed = 7;
  r.positive = "a glass bottle at night";
  return r;
}

}  // namespace

TEST_CASE("a PNG holds exactly the pixels it was made of") {
  for (const auto& [w, h] : std::vector<std::pair<int, int>>{{1, 1}, {3, 2}, {64, 64}, {129, 5}}) {
    const image from = striped(w, h);
    std::uint32_t width = 0, height = 0;
    CHECK(pixels_of(to_png(from), width, height) == from.rgb);
    CHECK(width == static_cast<std::uint32_t>(w));
    CHECK(height == static_cast<std::uint32_t>(h));
  }
}

TEST_CASE("a rendered picture is a sound PNG") {
  std::uint32_t width = 0, height = 0;
  const image from = render(small());
  CHECK(pixels_of(to_png(from), width, height) == from.rgb);
}

TEST_CASE("from_png reads what to_png writes") {
  const image from = striped(20, 30);
  const auto back = from_png(to_png(from));
  REQUIRE(back);
  CHECK(back->width == 20);
  CHECK(back->height == 30);
  CHECK(back->rgb == from.rgb);
}

TEST_CASE("from_png refuses a damaged, cut or foreign file") {
  std::string png = to_png(striped(8, 8));
  CHECK_FALSE(from_png(""));
  CHECK_FALSE(from_png("GIF89a"));
  CHECK_FALSE(from_png(png.substr(0, png.size() - 5)));
  for (std::size_t at = 8; at < png.size(); at += 7) {
    std::string damaged = png;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    CHECK_FALSE(from_png(damaged));
  }
}

TEST_CASE("an image without pixels is refused") { CHECK_THROWS_AS(to_png(image{}), std::length_error); }

TEST_CASE("equal recipes give equal pictures, and every number shapes the picture") {
  const auto bytes = render(small()).rgb;
  CHECK(render(small()).rgb == bytes);
  recipe r = small();
  r.seed = 8;
  CHECK(render(r).rgb != bytes);
  r = small();
  r.cfg = 2;
  CHECK(render(r).rgb != bytes);
  r = small();
  r.steps = 1;
  CHECK(render(r).rgb != bytes);
  r = small();
  r.positive = "sunset";
  CHECK(render(r).rgb != bytes);
  r = small();
  r.negative = "text";
  CHECK(render(r).rgb != bytes);
  r = small();
  r.model = "other";
  CHECK(render(r).rgb != bytes);
  CHECK(render(small(), 0.5).rgb != bytes);
}

TEST_CASE("resizing keeps a plain colour, and has the size asked for") {
  image plain{5, 3, {}};
  for (int i = 0; i < 15; ++i) plain.rgb.insert(plain.rgb.end(), {10, 200, 30});
  for (const bool nearest : {false, true})
    for (const auto& [w, h] : std::vector<std::pair<int, int>>{{1, 1}, {10, 6}, {2, 9}}) {
      const image out = resized(plain, w, h, nearest);
      REQUIRE(out.rgb.size() == static_cast<std::size_t>(w * h * 3));
      for (std::size_t i = 0; i < out.rgb.size(); i += 3) {
        CHECK(out.rgb[i] == 10);
        CHECK(out.rgb[i + 1] == 200);
        CHECK(out.rgb[i + 2] == 30);
      }
    }
}
