#include "plugins/uploads/content_hash.hpp"

#include <catch2/catch.hpp>

using portico::uploads::content_hash;

namespace {

// The official test vectors' input: bytes 0, 1, ... 250, and again.
std::string counting(std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(i % 251);
  return out;
}

std::string hash(std::string_view bytes, std::size_t piece) {
  content_hash h;
  while (!bytes.empty()) {
    h.update(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return h.text();
}

}  // namespace

TEST_CASE("the hash of nothing is BLAKE3's") {
  CHECK(content_hash().text() == "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
}

TEST_CASE("the hash gives the official test vectors however the bytes come") {
  const std::pair<std::size_t, const char*> vectors[] = {
      {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
      {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
      {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
      {102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"}};
  for (const auto& [size, sum] : vectors)
    for (const std::size_t piece : {std::size_t{997}, std::size_t{65536}, size}) {
      INFO(size << " in pieces of " << piece);
      CHECK(hash(counting(size), piece) == std::string("blake3:") + sum);
    }
}
