// Models: checked by the format's rules, placed on disk, deduplicated by content and place.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "form.hpp"
#include "stage.hpp"

using namespace e2e;
namespace fs = std::filesystem;

namespace {

struct comfy_folder {
  fs::path path = fs::path(temporary_folder()) / ("models" + std::to_string(++count));
  comfy_folder() { fs::create_directories(path / "models/checkpoints"); }
  std::string ini(const std::string& more = {}) const {
    return "[plugins]\nenabled = health, jobs, model_upload, uploads\n[plugin.model_upload]\nbase_dir = " +
           path.string() + "\n" + more;
  }
  // Files below models, but for the spool's.
  std::size_t files() const {
    std::size_t n = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path / "models"))
      n += entry.is_regular_file() || entry.is_symlink();
    return n;
  }
  static inline int count = 0;
};

std::string model(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return out + header + data;
}
std::string good(char data = 'x', std::size_t size = 1) {
  return model(R"({"a":{"dtype":"U8","shape":[)" + std::to_string(size) + R"(],"data_offsets":[0,)" +
                   std::to_string(size) + "]}}",
               std::string(size, data));
}
std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}
answer take(const stage& s, const std::string& bytes, const std::string& path) {
  return upload(s.port(), bytes, path, "application/octet-stream");
}

}  // namespace

TEST_CASE("a model is placed below models, and served and named from there") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string bytes = good('m', 400'000);
  const answer a = take(s, bytes, "models/checkpoints/sub/m.safetensors");
  INFO(a.body);
  CHECK(outcome(a) == "201");
  CHECK(at(a.body, "file_path") == "sub/m.safetensors");
  CHECK(content(base.path / "models/checkpoints/sub/m.safetensors") == bytes);
  CHECK(base.files() == 1);
  const std::string asset = "/api/v2/assets/" + at(a.body, "id");
  CHECK(s.get(asset + "/content").body == bytes);
  CHECK(s.get(asset + "/content", {{"Range", "bytes=0-7"}}).status == 206);
  CHECK(s.calls("GET /view") == 0);
  CHECK(s.calls("POST /upload/image") == 0);
  s.submit(
      R"({"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":{"__type":"core/ASSET","info":{"id":")" +
      at(a.body, "id") + R"("}}}}})");
  CHECK(at(s.counters(), "last_prompt").find("\"sub/m.safetensors\"") != std::string::npos);
}

TEST_CASE("a model in memory is placed too, and inputs go on as before") {
  const comfy_folder base;
  const stage s(base.ini());
  CHECK(outcome(take(s, good(), "checkpoints/small.safetensors")) == "201");
  CHECK(outcome(take(s, "picture", "input/foo.png")) == "201");
  CHECK(content(base.path / "models/checkpoints/small.safetensors") == good());
}

TEST_CASE("a model is the same only at the same place; an input never is a model") {
  const comfy_folder base;
  const stage s(base.ini());
  const answer input = take(s, good(), "m.safetensors");
  const answer first = take(s, good(), "checkpoints/m.safetensors"),
               again = take(s, good(), "models/checkpoints/m.safetensors"),
               other = take(s, good(), "loras/m.safetensors");
  CHECK(outcome(input) == "201");
  CHECK(outcome(first) == "201");
  CHECK(outcome(again) == "200");
  CHECK(outcome(other) == "201");
  CHECK(at(again.body, "id") == at(first.body, "id"));
  CHECK(at(other.body, "id") != at(first.body, "id"));
  CHECK(base.files() == 2);
  CHECK(at(s.post("/api/v2/assets/from-hash", "{\"hash\":\"" + at(first.body, "hash") + "\"}").body, "id") ==
        at(input.body, "id"));
  CHECK(request(s.port(), "DELETE", "/api/v2/assets/" + at(first.body, "id")).status == 204);
  CHECK(s.get("/api/v2/assets/" + at(other.body, "id") + "/content").body == good());
}

TEST_CASE("a deleted model's file stays, and the same upload takes it up again") {
  const comfy_folder base;
  const stage s(base.ini());
  const answer a = take(s, good(), "checkpoints/m.safetensors");
  CHECK(request(s.port(), "DELETE", "/api/v2/assets/" + at(a.body, "id")).status == 204);
  CHECK(base.files() == 1);
  const answer again = take(s, good(), "checkpoints/m.safetensors");
  CHECK(outcome(again) == "201");
  CHECK(at(again.body, "id") != at(a.body, "id"));
  const answer clash = take(s, good('y'), "checkpoints/m.safetensors");
  CHECK(outcome(clash) == "422 invalid_request");
  CHECK(at(clash.body, "error.message").find("checkpoints/m.safetensors") != std::string::npos);
  CHECK(clash.body.find(base.path.string()) == std::string::npos);
  CHECK(content(base.path / "models/checkpoints/m.safetensors") == good());
}

TEST_CASE("a model whose file was removed is noticed and placed again") {
  const comfy_folder base;
  const stage s(base.ini());
  const answer a = take(s, good(), "checkpoints/m.safetensors");
  fs::remove(base.path / "models/checkpoints/m.safetensors");
  CHECK(outcome(s.get("/api/v2/assets/" + at(a.body, "id") + "/content")) == "404 output_unavailable");
  CHECK(request(s.port(), "HEAD", "/api/v2/assets/by-hash/" + at(a.body, "hash")).status == 404);
  CHECK(outcome(take(s, good(), "checkpoints/m.safetensors")) == "201");
  CHECK(content(base.path / "models/checkpoints/m.safetensors") == good());
}

TEST_CASE("a file that is no good model is refused with rule and tensor, and leaves nothing") {
  const comfy_folder base;
  const stage s(base.ini());
  const auto said = [&](const std::string& bytes) {
    const answer a = take(s, bytes, "checkpoints/m.safetensors");
    CHECK(outcome(a) == "422 invalid_request");
    CHECK(a.body.find(base.path.string()) == std::string::npos);
    return at(a.body, "error.details.rule") + "|" + at(a.body, "error.details.tensor") + "|" +
           at(a.body, "error.message");
  };
  const std::string whole = good('x', 1 << 20);
  CHECK(said(whole.substr(0, whole.size() / 2)).find("(incomplete download?)") != std::string::npos);
  CHECK(said(model(R"({"layer.7":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234")).find("size|layer.7|") ==
        0);
  CHECK(said("<!DOCTYPE html><title>Sign in</title>").find("HTML") != std::string::npos);
  CHECK(said("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n").find("Git LFS pointer") !=
        std::string::npos);
  CHECK(said(model(R"({"a":{"dtype":"Q9","shape":[1],"data_offsets":[0,1]}})", "x")).find("\"Q9\"") !=
        std::string::npos);
  CHECK(said("not a model at all").find("safetensors") != std::string::npos);
  const std::string liar("\xc0\x9e\xe6\x05\0\0\0\0{}", 10);
  CHECK(said(liar).find("incomplete") == 0);
  CHECK(outcome(take(s, good(), "checkpoints/m.ckpt")) == "422 invalid_request");
  CHECK(outcome(take(s, good(), "checkpoints/../../x.safetensors")) == "422 invalid_request");
  CHECK(base.files() == 0);
}

TEST_CASE("large headers cost little memory, also many at one time") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string bytes =
      model("{\"__metadata__\":{\"k\":\"" + std::string((60u << 20) / slowness, 'v') + "\"}}", "");
  CHECK(outcome(take(s, bytes, "checkpoints/first.safetensors")) == "201");
  const std::size_t before = s.portico.resident_kb();
  std::vector<std::thread> threads;
  std::atomic<int> taken{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2; ++i)
        taken += take(s, bytes, "loras/m" + std::to_string(t * 10 + i) + ".safetensors").status == 201;
    });
  for (auto& t : threads) t.join();
  CHECK(taken == 8);
  CHECK(s.portico.resident_kb() < before + 20'000u * slowness);
}

TEST_CASE("a linked category is refused, or followed where the ini says so") {
  const comfy_folder base;
  const fs::path disk = base.path / "disk";
  fs::create_directory(disk);
  fs::create_directory_symlink(disk, base.path / "models/loras");
  {
    const stage s(base.ini());
    const answer a = take(s, good(), "loras/m.safetensors");
    CHECK(outcome(a) == "422 invalid_request");
    CHECK(at(a.body, "error.message").find("follow_category_links") != std::string::npos);
  }
  const stage s(base.ini("follow_category_links = yes\n"));
  const answer a = take(s, good(), "loras/m.safetensors");
  CHECK(outcome(a) == "201");
  CHECK(content(disk / "m.safetensors") == good());
  CHECK(s.get("/api/v2/assets/" + at(a.body, "id") + "/content").body == good());
}

TEST_CASE("a model that lies there already is taken by path, once it is checked") {
  const comfy_folder base;
  const stage s(base.ini());
  const auto from_path = [&](const std::string& name, const std::string& bytes, const std::string& rest = {}) {
    std::ofstream(base.path / "models/checkpoints" / name, std::ios::binary) << bytes;
    return s.post("/api/v2/assets/from-path",
                  "{\"path\":" + quoted((base.path / "models/checkpoints" / name).string()) + rest + "}");
  };
  const answer a = from_path("m.safetensors", good(), R"(,"file_path":"evil/other.safetensors")");
  CHECK(outcome(a) == "201");
  s.submit(
      R"({"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":{"__type":"core/ASSET","info":{"id":")" +
      at(a.body, "id") + R"("}}}}})");
  CHECK(at(s.counters(), "last_prompt").find("\"m.safetensors\"") != std::string::npos);
  CHECK(at(from_path("n.safetensors", good('n')).body, "file_path") == "n.safetensors");
  CHECK(outcome(from_path("bad.safetensors", "nonsense that is long enough")) == "422 invalid_request");
  CHECK(outcome(from_path("m.ckpt", good())) == "422 invalid_request");
  CHECK(outcome(take(s, good(), "checkpoints/m.safetensors")) == "200");
}

TEST_CASE("without base_dir no model is taken") {
  const stage s("[plugins]\nenabled = health, jobs, model_upload, uploads\n");
  const answer a = take(s, good(), "checkpoints/m.safetensors");
  CHECK(outcome(a) == "422 invalid_request");
  CHECK(at(a.body, "error.message").find("co-located") != std::string::npos);
}
