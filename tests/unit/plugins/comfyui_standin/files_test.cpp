#include <catch2/catch.hpp>

#include "plugins/comfyui_standin/files.hpp"

using namespace standin;

TEST_CASE("a path is spelled in one way and never leads out of its folder") {
  CHECK(folders::inside("", "a.png") == "a.png");
  CHECK(folders::inside("sub", "a.png") == "sub/a.png");
  CHECK(folders::inside("./sub//x/..", "./a.png") == "sub/a.png");
  CHECK_FALSE(folders::inside("..", "a.png"));
  CHECK_FALSE(folders::inside("sub/../..", "a.png"));
  CHECK_FALSE(folders::inside("/etc", "a.png"));
  CHECK_FALSE(folders::inside("", "../a.png"));
}

TEST_CASE("a taken name with other bytes is numbered, equal bytes are stored once") {
  folders f(1 << 20);
  CHECK(f.upload("input", "", "photo.png", "one", false) == "photo.png");
  CHECK(f.upload("input", "", "photo.png", "two", false) == "photo (1).png");
  CHECK(f.upload("input", "", "photo.png", "three", false) == "photo (2).png");
  CHECK(f.upload("input", "", "photo.png", "two", false) == "photo (1).png");
  CHECK(f.upload("input", "", "photo.png", "four", true) == "photo.png");
  CHECK(f.upload("input", "sub", "photo.png", "two", false) == "photo.png");
  CHECK(f.upload("input", "", "plain", "a", false) == "plain");
  CHECK(f.upload("input", "", "plain", "b", false) == "plain (1)");
  CHECK_FALSE(f.upload("input", "../..", "photo.png", "x", false));
  CHECK(*f.find("input", "photo.png")->bytes == "four");
}

TEST_CASE("a file's tag changes with its contents") {
  folders f(1 << 20);
  f.put("output", "a", "12");
  const std::string first = f.find("output", "a")->etag();
  f.put("output", "a", "34");
  CHECK(f.find("output", "a")->etag() != first);
}

TEST_CASE("the oldest outputs go when there are too many bytes, inputs stay") {
  folders f(10);
  f.put("input", "in", std::string(100, 'x'));
  f.put("output", "a", "12345");
  f.put("temp", "b", "12345");
  CHECK(f.find("output", "a"));
  f.put("output", "c", "1");
  CHECK_FALSE(f.find("output", "a"));
  CHECK(f.find("temp", "b"));
  CHECK(f.find("output", "c"));
  CHECK(f.find("input", "in"));
  f.put("output", "c", "123456");  // the same name again counts once
  CHECK_FALSE(f.find("temp", "b"));
  CHECK(f.find("output", "c"));
}

TEST_CASE("the media type follows the extension, in any case") {
  CHECK(media_type_of("a.PNG") == "image/png");
  CHECK(media_type_of("a.b.mp4") == "video/mp4");
  CHECK(media_type_of("noextension") == "application/octet-stream");
}

TEST_CASE("what a browser would run is active") {
  for (const char* name : {"x.html", "x.svg", "x.js", "x.css", "x.xhtml"}) CHECK(is_active(media_type_of(name)));
  for (const char* name : {"x.png", "x.txt", "x.json", "x"}) CHECK_FALSE(is_active(media_type_of(name)));
}
