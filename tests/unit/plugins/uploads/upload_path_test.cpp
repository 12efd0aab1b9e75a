#include "plugins/uploads/upload_path.hpp"

#include <catch2/catch.hpp>
#include <portico/response.hpp>

using namespace portico::uploads;

namespace {

// "input FOLDER NAME" or "model ROOT PATH" or the refusal.
std::string read(std::string_view path) {
  try {
    const upload_path p = read_upload_path(path);
    return (p.kind == asset_kind::input ? "input|" : "model|") + p.folder + "|" + p.name;
  } catch (const portico::http_error& e) {
    CHECK(e.status() == 422);
    CHECK(e.code() == "invalid_request");
    return e.what();
  }
}

bool refused(std::string_view path, const char* because) { return read(path).find(because) != std::string::npos; }

}  // namespace

TEST_CASE("a single name is an input") {
  CHECK(read("foo.png") == "input||foo.png");
  CHECK(read("checkpoints") == "input||checkpoints");
  CHECK(read("models/x.safetensors") == "input||x.safetensors");
  CHECK(read("input") == "input||input");
  CHECK(read("./x.png") == "input||x.png");
}

TEST_CASE("a path below input is an input with its folders") {
  CHECK(read("input/foo.png") == "input||foo.png");
  CHECK(read("input/a/b/foo.png") == "input|a/b|foo.png");
  CHECK(read("input//a/./foo.png") == "input|a|foo.png");
}

TEST_CASE("a path below a model folder is a model") {
  CHECK(read("checkpoints/foo.safetensors") == "model|checkpoints|foo.safetensors");
  CHECK(read("models/checkpoints/sub/foo.safetensors") == "model|checkpoints|sub/foo.safetensors");
  CHECK(read("optical_flow/x.safetensors") == "model|optical_flow|x.safetensors");
}

TEST_CASE("any other first folder is refused, whatever its case") {
  for (const char* path : {"configs/a.yaml", "custom_nodes/a.py", "clip/a.safetensors", "unet/a.safetensors",
                           "Checkpoints/a", "INPUT/a.png", "output/a.png", "models/models/a", "models/configs/a"}) {
    INFO(path);
    CHECK(refused(path, "must be a single name"));
  }
}

TEST_CASE("a path that leads upwards is refused before anything else is looked at") {
  for (const char* path : {"..", "input/../../a", "checkpoints/../a.safetensors", "input/..", "models/../a", "a/.."}) {
    INFO(path);
    CHECK(refused(path, "leads upwards"));
  }
}

TEST_CASE("a path that is absolute, empty, or names no file is refused") {
  CHECK(refused("", "is empty"));
  CHECK(refused("/etc/passwd", "is absolute"));
  CHECK(refused("input/", "names no file"));
  CHECK(refused("models/", "names no file"));
  CHECK(refused(".", "names no file"));
  CHECK(refused("./.", "names no file"));
}

TEST_CASE("what Windows reads differently is refused on every system") {
  CHECK(refused("models\\loras\\x.safetensors", "backslash"));
  CHECK(refused("\\\\host\\x", "backslash"));
  CHECK(refused("a\\..\\b.png", "backslash"));
  CHECK(refused("C:evil.png", "colon"));
  CHECK(refused("models/loras/a:b.safetensors", "colon"));
  CHECK(refused("models/loras/x.safetensors.", "dot or a blank"));
  CHECK(refused("input/a /b.png", "dot or a blank"));
  CHECK(refused("input/a./b.png", "dot or a blank"));
  for (const char* name : {"CON", "con.png", "CON .txt", "nul", "Aux.tar.gz", "COM1", "com9.x", "LPT0",
                           "lpt\xC2\xB2.png", "CONIN$", "prn"}) {
    INFO(name);
    CHECK(refused(std::string("models/loras/") + name, "device on Windows"));
  }
  for (const char* name : {"CONSOLE", "com", "com10", "lptx", "nullable.png", "au x", "xcon"}) {
    INFO(name);
    CHECK(read(name) == std::string("input||") + name);
  }
}

TEST_CASE("hidden names, control characters and bytes that are not text are refused") {
  CHECK(refused("models/loras/.h.safetensors", "hidden"));
  CHECK(refused("input/.git/x", "hidden"));
  CHECK(refused(std::string_view("a\0b", 3), "control"));
  CHECK(refused("a\nb", "control"));
  CHECK(refused("a\x7f", "control"));
  CHECK(refused("a\xC2\x85", "control"));
  CHECK(refused("a\xff", "UTF-8"));
  CHECK(refused("a\xC3", "UTF-8"));
  CHECK(refused("\xED\xA0\x80", "UTF-8"));
}

TEST_CASE("names and paths that are too long are refused") {
  CHECK(read(std::string(255, 'a')) == "input||" + std::string(255, 'a'));
  CHECK(refused(std::string(256, 'a'), "255 bytes"));
  CHECK(refused(std::string(300, 'a'), "255 bytes"));
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "a/";
  CHECK(refused(deep, "1,024 bytes"));
}

TEST_CASE("every other name is kept byte for byte") {
  for (const char* name : {"\xC3\xA9.png", "e\xCC\x81.png", "\xEF\xAC\x81", "\xE2\x80\xAEgnp.exe", "a b.png", " a",
                           "a\"b;c'd%20?*<>|.png", "\xF0\x9F\x98\x80.png"}) {
    INFO(name);
    CHECK(read(name) == std::string("input||") + name);
  }
}
