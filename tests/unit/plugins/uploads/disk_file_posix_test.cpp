#include "plugins/uploads/disk_file.hpp"

#include <catch2/catch.hpp>

#include "plugins/uploads/disk_content.hpp"
#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace portico::uploads;

namespace {

std::string found(const std::string& folder, const std::string& path) {
  const location l = locate(folder, path);
  switch (l.what) {
    case location::outcome::missing:
      return "missing";
    case location::outcome::outside:
      return "outside";
    default:
      return l.relative;
  }
}

}  // namespace

TEST_CASE("a regular file below the folder is found by its real place") {
  const temporary_folder f;
  f.write("base/input/a/x.png", "x");
  CHECK(found(f.of("base"), f.of("base/input/a/x.png")) == "input/a/x.png");
  CHECK(found(f.of("base/"), f.of("base//input/./a/x.png")) == "input/a/x.png");
}

TEST_CASE("what is not there, or is no regular file, is missing") {
  const temporary_folder f;
  f.write("base/input/x.png", "x");
  CHECK(found(f.of("base"), f.of("base/input/y.png")) == "missing");
  CHECK(found(f.of("base"), f.of("base/input")) == "missing");
  CHECK(found(f.of("base"), f.of("base/input/x.png/z")) == "missing");
}

TEST_CASE("a path outside the folder is outside, whether anything is there or not") {
  const temporary_folder f;
  f.write("base/x", "x");
  f.write("other/x", "x");
  f.write("base2/x", "x");
  CHECK(found(f.of("base"), f.of("other/x")) == "outside");
  CHECK(found(f.of("base"), f.of("other/y")) == "outside");
  CHECK(found(f.of("base"), f.of("base2/x")) == "outside");
  CHECK(found(f.of("base"), f.of("base")) == "outside");
  CHECK(found(f.of("base"), f.of("base/../other/x")) == "outside");
  CHECK(found(f.of("base"), "base/x") == "outside");
  CHECK(found(f.of("base"), "") == "outside");
  CHECK(found(f.of("base"), std::string("\0", 1)) == "outside");
  CHECK(found(f.of("base"), f.of("base/x") + std::string("\0.png", 5)) == "outside");
  CHECK(found(f.of("nowhere"), f.of("nowhere/x")) == "missing");
}

TEST_CASE("links are resolved: one that leads out is outside, one that stays is its target") {
  const temporary_folder f;
  f.write("base/input/x.png", "x");
  f.write("other/x", "x");
  fs::create_symlink(f.of("other/x"), f.of("base/input/out"));
  fs::create_directory_symlink(f.of("base/input"), f.of("base/alias"));
  fs::create_directory_symlink(f.of("base"), f.of("link"));
  CHECK(found(f.of("base"), f.of("base/input/out")) == "outside");
  CHECK(found(f.of("base"), f.of("base/alias/x.png")) == "input/x.png");
  CHECK(found(f.of("link"), f.of("link/input/x.png")) == "input/x.png");
  CHECK(found(f.of("link"), f.of("base/input/x.png")) == "input/x.png");
}

TEST_CASE("an open file tells its size and gives its bytes") {
  const temporary_folder f;
  const auto file = disk_file::open(f.write("a/x", "hello"));
  REQUIRE(file);
  CHECK(file->size() == 5);
  CHECK(file->changed() > 0);
  char out[16];
  CHECK(std::string(out, file->read(1, out, 3)) == "ell");
  CHECK(file->read(5, out, sizeof out) == 0);
}

TEST_CASE("what is no regular file, or has become a link, is not opened") {
  const temporary_folder f;
  f.write("a/x", "hello");
  fs::create_symlink(f.of("a/x"), f.of("link"));
  fs::create_directory_symlink(f.of("a"), f.of("b"));
  CHECK_FALSE(disk_file::open(f.of("link")));
  CHECK_FALSE(disk_file::open(f.of("b/x")));
  CHECK_FALSE(disk_file::open(f.of("a")));
  CHECK_FALSE(disk_file::open(f.of("none")));
  CHECK_FALSE(disk_file::open("/dev/null"));
  CHECK_FALSE(disk_file::open("/"));
  CHECK_FALSE(disk_file::open(""));
}

TEST_CASE("a file that was removed, replaced or edited is not the one that was stored") {
  const temporary_folder f;
  blob bytes;
  bytes.disk_path = f.write("x", "hello");
  bytes.size = 5;
  bytes.disk_changed = disk_file::open(bytes.disk_path)->changed();
  CHECK(is_unchanged_on_disk(bytes));
  f.write("x", "longer than before");
  CHECK_FALSE(is_unchanged_on_disk(bytes));
  f.write("x", "world");
  fs::last_write_time(bytes.disk_path, fs::last_write_time(bytes.disk_path) + std::chrono::seconds(5));
  CHECK_FALSE(is_unchanged_on_disk(bytes));
  fs::remove(bytes.disk_path);
  CHECK_FALSE(is_unchanged_on_disk(bytes));
}
