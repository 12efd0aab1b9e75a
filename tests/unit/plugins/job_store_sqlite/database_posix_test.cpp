// The file: made, found again, refused, set aside.
#include <Poco/Data/Statement.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "folder.hpp"
#include "plugins/job_store_sqlite/owner.hpp"

using namespace Poco::Data::Keywords;

namespace {

std::string error_of(folder& f) {
  try {
    f.open();
    return {};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

void run(Poco::Data::Session s, const char* sql) { s << sql, now; }

}  // namespace

TEST_CASE("a store is made for its owner alone, and found again") {
  folder f;
  run(f.open(), "INSERT INTO value (name, bytes) VALUES ('a', x'01')");
  const auto rights = std::filesystem::status(f.file()).permissions();
  CHECK(rights == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  int n = 0;
  Poco::Data::Session s = f.open();
  s << "SELECT count(*) FROM value", into(n), now;
  CHECK(n == 1);
  CHECK(job_store::damage_of(s).empty());
}

TEST_CASE("a store of a newer portico is refused, and left as it is") {
  folder f;
  run(f.open(), "PRAGMA user_version = 2");
  CHECK(error_of(f) == f.file().string() +
                           ": was written by a newer portico (its schema is 2, this one knows 1); run that one, or use "
                           "another directory");
  run(job_store::connect(f.file().string(), job_store::durability::normal), "SELECT count(*) FROM job");
}

TEST_CASE("a database of another program is refused, whatever it holds") {
  folder f;
  run(job_store::connect(f.file().string(), job_store::durability::normal), "CREATE TABLE t (a)");
  CHECK(error_of(f) == f.file().string() + ": is a database of another program");
  folder other;
  run(job_store::connect(other.file().string(), job_store::durability::normal), "PRAGMA application_id = 7");
  CHECK(error_of(other) == other.file().string() + ": is a database of another program");
}

TEST_CASE("a damaged file is set aside with a word, and nothing of it is lost") {
  folder f;
  const std::string junk(5000, 'x');
  std::ofstream(f.file(), std::ios::binary) << junk;
  run(f.open(), "SELECT count(*) FROM job");
  REQUIRE(f.reports.size() == 1);
  CHECK_THAT(f.reports[0], Catch::Contains("is damaged"));
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(f.path))
    if (entry.path().filename().string().find(".damaged-") != std::string::npos)
      kept += std::filesystem::file_size(entry) == junk.size();
  CHECK(kept == 1);
}

TEST_CASE("a page that is damaged is found by looking through the file") {
  folder f;
  {
    Poco::Data::Session s = f.open();
    for (int i = 0; i < 400; ++i)
      s << "INSERT INTO graph (created, graph) VALUES (?, hex(randomblob(500)))", use(i), now;
    run(s, "PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::fstream out(f.file(), std::ios::in | std::ios::out | std::ios::binary);
  for (std::streamoff at = 20 * 4096; at < 60 * 4096; at += 4096) {
    out.seekp(at);
    out.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  }
  out.close();
  Poco::Data::Session s = job_store::connect(f.file().string(), job_store::durability::normal);
  std::string damage;
  try {
    damage = job_store::damage_of(s);
  } catch (const Poco::Exception& e) {
    damage = e.displayText();
  }
  CHECK_FALSE(damage.empty());
}

TEST_CASE("a folder has one owner, until that one goes") {
  folder f;
  const std::string state = (f.path / "state").string();
  {
    const job_store::owner first(state);
    CHECK((std::filesystem::status(state).permissions() & std::filesystem::perms::all) ==
          std::filesystem::perms::owner_all);
    try {
      const job_store::owner second(state);
      FAIL("two owners");
    } catch (const std::runtime_error& e) {
      CHECK(e.what() == "directory " + state + ": is in use by another portico (process " + std::to_string(::getpid()) +
                            "); give each one a directory of its own");
    }
  }
  const job_store::owner again(state);
  CHECK_THROWS_WITH(job_store::owner((f.path / "none/below").string()), Catch::Contains("cannot be made"));
}
