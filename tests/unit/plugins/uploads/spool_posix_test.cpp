#include "plugins/uploads/spool.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace portico::uploads;

TEST_CASE("a spool gives back what was written, from any offset") {
  const temporary_folder f;
  spool s{spool_folder(f.path.string())};
  s.write("hello ");
  s.write("");
  s.write("world");
  CHECK(s.size() == 11);
  char out[32];
  CHECK(std::string(out, s.read(0, out, sizeof out)) == "hello world");
  CHECK(std::string(out, s.read(6, out, 3)) == "wor");
  CHECK(s.read(11, out, sizeof out) == 0);
  CHECK(s.read(1000, out, sizeof out) == 0);
  s.write("!");
  CHECK(std::string(out, s.read(6, out, sizeof out)) == "world!");
}

TEST_CASE("a spool leaves nothing in its folder") {
  const temporary_folder f;
  const spool_folder folder(f.path.string());
  {
    spool a(folder), b(folder);
    a.write("x");
    CHECK(f.entries() == (a.name().empty() ? 0 : 2));
  }
  CHECK(f.entries() == 0);
}

TEST_CASE("a spool folder that is not there is made, for its owner only") {
  const temporary_folder f;
  const spool_folder folder(f.of("deep"));
  CHECK((fs::status(f.of("deep")).permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(folder.free_bytes() > 0);
}

TEST_CASE("a spool folder that cannot be made or used is refused and named") {
  const temporary_folder f;
  CHECK_THROWS_WITH(spool_folder(f.of("a/b")), Catch::Contains(f.of("a/b")));
  f.write("file", "");
  CHECK_THROWS_WITH(spool_folder(f.of("file")), Catch::Contains(f.of("file")));
}

TEST_CASE("what a dead process left is removed at start, and nothing else") {
  const temporary_folder f;
  f.write("portico-spool-left", "x");
  f.write("other", "x");
  f.write("portico-spool", "x");
  const spool_folder folder(f.path.string());
  CHECK_FALSE(fs::exists(f.of("portico-spool-left")));
  CHECK(fs::exists(f.of("other")));
  CHECK(fs::exists(f.of("portico-spool")));
}

TEST_CASE("a full disk is told from other trouble") {
  CHECK(is_full(std::system_error(std::make_error_code(std::errc::no_space_on_device))));
  CHECK(is_full(std::system_error(std::make_error_code(std::errc::file_too_large))));
  CHECK_FALSE(is_full(std::system_error(std::make_error_code(std::errc::permission_denied))));
}
