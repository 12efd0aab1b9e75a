#include "plugins/model_upload/placement.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "plugins/model_upload/model_upload.hpp"

namespace fs = std::filesystem;
using namespace portico::model_upload;

namespace {

const std::string good =
    std::string("\x35\0\0\0\0\0\0\0", 8) + R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})" + "x";

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// ComfyUI's folder, and a spooled file.
struct stage {
  fs::path top, base, models;
  stage() {
    std::string name = (fs::temp_directory_path() / "portico-models-XXXXXX").string();
    top = fs::canonical(::mkdtemp(name.data()));
    base = top / "base";
    models = base / "models";
    fs::create_directories(models / "checkpoints");
  }
  ~stage() { fs::remove_all(top); }

  outcome place(const std::string& path, const std::string& bytes = good, const std::string& root = "checkpoints",
                bool follow = false) const {
    const int fd = ::open(base.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    candidate c;
    c.file = fd;
    c.size = bytes.size();
    c.root = root;
    c.path = path;
    const outcome o = model_folder(base.string(), follow).place(c);
    ::close(fd);
    return o;
  }
  std::string refusal(const std::string& path, const std::string& root = "checkpoints") const {
    const outcome o = place(path, good, root);
    CHECK(o.message.find(top.string()) == std::string::npos);
    return std::to_string(o.status) + " " + o.message;
  }
  // Every file and folder below top, but for those of the start.
  std::size_t entries() const {
    return static_cast<std::size_t>(
               std::distance(fs::recursive_directory_iterator(top), fs::recursive_directory_iterator())) -
           3;
  }
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a model is placed with its folders, whole, and with usual permissions") {
  const stage s;
  const outcome o = s.place("sub/deeper/m.safetensors");
  CHECK(o.status == 0);
  CHECK(o.disk_path == (s.models / "checkpoints/sub/deeper/m.safetensors").string());
  CHECK(content(o.disk_path) == good);
  CHECK(o.changed > 0);
  const mode_t mask = ::umask(077);
  ::umask(mask);
  CHECK(static_cast<unsigned>(fs::status(o.disk_path).permissions()) == (0644u & ~mask));
  CHECK(s.entries() == 3);
}

TEST_CASE("a category that is not there yet is made") {
  const stage s;
  CHECK(s.place("m.safetensors", good, "loras").disk_path == (s.models / "loras/m.safetensors").string());
}

TEST_CASE("a file that exists is never written over") {
  const stage s;
  CHECK(s.place("m.safetensors").status == 0);
  const std::string said = s.refusal("m.safetensors");
  CHECK(said == "0 ");  // the same bytes: there already
  const outcome other = s.place("m.safetensors", good + "y");
  CHECK(other.status == 422);
  CHECK(has(other.message, "another file exists at checkpoints/m.safetensors"));
  const outcome equally_long = s.place("m.safetensors", std::string(good.size(), 'z'));
  CHECK(equally_long.status == 422);
  CHECK(content(s.models / "checkpoints/m.safetensors") == good);
  fs::create_directory(s.models / "checkpoints/d.safetensors");
  CHECK(has(s.refusal("d.safetensors"), "422 another file exists"));
}

TEST_CASE("a name that is no model's is refused") {
  const stage s;
  for (const char* name :
       {"m.ckpt", "m.pt", "m", ".safetensors", "sub/.safetensors", "m.safetensors.pt", "m.safetensors/x"})
    CHECK(has(s.refusal(name), "422 a model's name must end in .safetensors"));
  CHECK(s.refusal("M.SafeTensors") == "0 ");
  CHECK(s.entries() == 1);
}

TEST_CASE("a path that leads elsewhere is refused, whoever asks") {
  const stage s;
  for (const char* path :
       {"../m.safetensors", "a/../../m.safetensors", "/m.safetensors", "a//m.safetensors", "./m.safetensors", ""})
    CHECK(has(s.refusal(path), "422 the model's path"));
  for (const char* root : {"..", "", ".", "a/b", "/etc"})
    CHECK(has(s.refusal("m.safetensors", root), "422 the model's path"));
  CHECK(s.entries() == 0);
}

TEST_CASE("a linked category is refused with the key that allows it, and followed when it does") {
  const stage s;
  fs::create_directory(s.top / "disk");
  fs::create_directory_symlink(s.top / "disk", s.models / "loras");
  const std::string said = s.refusal("m.safetensors", "loras");
  CHECK(has(said, "422"));
  CHECK(has(said, "follow_category_links"));
  const outcome o = s.place("sub/m.safetensors", good, "loras", true);
  CHECK(o.disk_path == (s.top / "disk/sub/m.safetensors").string());
  CHECK(content(s.models / "loras/sub/m.safetensors") == good);
}

TEST_CASE("a link that leads out of models is refused, one that stays inside is followed") {
  const stage s;
  fs::create_directories(s.top / "outside");
  fs::create_directories(s.models / "vae/real");
  fs::create_directory_symlink(s.top / "outside", s.models / "checkpoints/out");
  fs::create_directory_symlink("../vae/real", s.models / "checkpoints/in");
  fs::create_directory_symlink("/nowhere", s.models / "checkpoints/dangling");
  fs::create_directory_symlink(s.models, s.models / "checkpoints/top");
  for (const char* path : {"out/m.safetensors", "out/a/m.safetensors", "dangling/m.safetensors", "top/m.safetensors"})
    CHECK(has(s.refusal(path), "leads out of"));
  CHECK(fs::is_empty(s.top / "outside"));
  CHECK(s.place("in/m.safetensors").disk_path == (s.models / "vae/real/m.safetensors").string());
  std::ofstream(s.models / "checkpoints/file") << "x";
  CHECK(has(s.refusal("file/m.safetensors"), "is a file, not a folder"));
}

TEST_CASE("a target that is a link is refused, whatever it points to") {
  const stage s;
  fs::create_symlink(s.top / "victim", s.models / "checkpoints/m.safetensors");
  CHECK(has(s.refusal("m.safetensors"), "422 another file exists"));
  CHECK_FALSE(fs::exists(s.top / "victim"));
}

TEST_CASE("a models folder that is itself a link is fine, one that is missing is not") {
  const stage s;
  fs::rename(s.models, s.top / "elsewhere");
  CHECK(has(s.refusal("m.safetensors"), "422 base_dir holds no folder named models"));
  fs::create_directory_symlink(s.top / "elsewhere", s.models);
  CHECK(s.place("m.safetensors").disk_path == (s.top / "elsewhere/checkpoints/m.safetensors").string());
}

TEST_CASE("a spool on another file system is copied, and nothing is left beside") {
  const stage s;
  std::string name = "/dev/shm/portico-spool-XXXXXX";
  const int fd = ::mkstemp(name.data());
  if (fd < 0) {
    WARN("skipped: /dev/shm cannot be written to");
    return;
  }
  std::string bytes(3'000'000, 'x');
  REQUIRE(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  candidate c;
  c.file = fd;
  c.file_name = name;
  c.size = bytes.size();
  c.root = "checkpoints";
  c.path = "m.safetensors";
  const outcome o = model_folder(s.base.string(), false).place(c);
  ::close(fd);
  ::unlink(name.c_str());
  CHECK(o.status == 0);
  CHECK_FALSE(o.moved);
  CHECK(content(s.models / "checkpoints/m.safetensors") == bytes);
  CHECK(s.entries() == 1);
}

TEST_CASE("many that are placed under one name at one time: one wins, the others are told") {
  const stage s;
  const model_folder folder(s.base.string(), false);
  std::atomic<int> won{0}, lost{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const std::string bytes(200'000, static_cast<char>('a' + i));
      const int fd = ::open(s.base.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      static_cast<void>(::write(fd, bytes.data(), bytes.size()) > 0);
      candidate c;
      c.file = fd;
      c.size = bytes.size();
      c.root = "loras";
      c.path = "new/m.safetensors";
      const outcome o = folder.place(c);
      ::close(fd);
      (o.status == 0 ? won : lost) += 1;
      if (o.status != 0 && o.status != 409 && o.status != 422) won += 100;
    });
  for (auto& t : threads) t.join();
  CHECK(won == 1);
  CHECK(lost == 7);
  const std::string there = content(s.models / "loras/new/m.safetensors");
  CHECK(there.size() == 200'000);
  CHECK(there == std::string(200'000, there[0]));
  CHECK(s.entries() == 3);
}

TEST_CASE("a file that is no safetensors file is not placed, and the details name rule and tensor") {
  const stage s;
  const fs::path path = s.top / "bad";
  std::string bad = good;
  bad.replace(bad.find("[1]"), 3, "[2]");
  std::ofstream(path, std::ios::binary) << bad;
  candidate c;
  c.file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  c.size = bad.size();
  c.root = "checkpoints";
  c.path = "m.safetensors";
  const model_folder folder(s.base.string(), false);
  const outcome o = examine(folder, c, true);
  CHECK(o.status == 422);
  CHECK(has(o.message, "safetensors"));
  CHECK(o.details == R"({"rule":"size","tensor":"a"})");
  c.path = "m.ckpt";
  CHECK(examine(folder, c, false).status == 422);
  ::close(static_cast<int>(c.file));
  CHECK(s.entries() == 1);
}
