#include "plugins/comfy/content_type.hpp"

#include <catch2/catch.hpp>

using comfy::content_type_of;

TEST_CASE("a content type follows from the ending of the name, in any case") {
  CHECK(content_type_of("a.png") == "image/png");
  CHECK(content_type_of("A.JPeG") == "image/jpeg");
  CHECK(content_type_of("dir.mp4/x.webm") == "video/webm");
  CHECK(content_type_of("x.tar.mp3") == "audio/mpeg");
  CHECK(content_type_of("m.glb") == "model/gltf-binary");
}

TEST_CASE("a name that says nothing is a stream of bytes") {
  for (const char* name :
       {"", "a", "a.", ".", "dir.png/a", "dir.png\\a", "a.unheard", "a.p ng", "x.latent", "m.safetensors"})
    CHECK(content_type_of(name) == "application/octet-stream");
}
