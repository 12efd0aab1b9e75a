#include "plugins/job_store_sqlite/database.hpp"

#include <Poco/Data/SQLite/Connector.h>
#include <Poco/Data/SQLite/SQLiteException.h>
#include <Poco/Data/Statement.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

namespace job_store {
namespace {

using namespace Poco::Data::Keywords;
using Poco::Data::Session;
namespace fs = std::filesystem;

constexpr int application = 0x706F7274;  // "port", so that other programs' files are not taken for a store

// Graphs have a table of their own: lists do not read them.  A job's key in every table is when it was created, which
// no two share.
constexpr const char* first_schema[] = {
    "CREATE TABLE value (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE job (created INTEGER PRIMARY KEY, id BLOB NOT NULL, phase INTEGER NOT NULL, status INTEGER NOT NULL,"
    " started INTEGER NOT NULL, nodes INTEGER NOT NULL, priority INTEGER, metadata TEXT, text TEXT NOT NULL)",
    "CREATE UNIQUE INDEX job_by_id ON job (id)",
    "CREATE INDEX open_job ON job (created) WHERE phase < 2",
    "CREATE INDEX job_by_status ON job (status, created) WHERE phase = 2",
    "CREATE TABLE graph (created INTEGER PRIMARY KEY, graph TEXT NOT NULL)",
    "CREATE TABLE key (name BLOB PRIMARY KEY, claimed INTEGER NOT NULL, job BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX key_by_job ON key (job)",
    "CREATE INDEX key_by_time ON key (claimed)",
    "CREATE TABLE asset (id TEXT PRIMARY KEY, kind INTEGER NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL,"
    " content_type TEXT NOT NULL, file_path TEXT NOT NULL, reference TEXT NOT NULL, target TEXT NOT NULL, tags TEXT "
    "NOT NULL,"
    " name TEXT NOT NULL, subfolder TEXT NOT NULL, folder TEXT NOT NULL, disk_path TEXT NOT NULL,"
    " disk_changed INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL)",
    "CREATE INDEX asset_by_expiry ON asset (expires) WHERE expires > 0",
};

int pragma(Session& session, const char* name) {
  int value = 0;
  session << std::string("PRAGMA ") + name, into(value), now;
  return value;
}

void run(Session& session, const std::string& sql) { session << sql, now; }

bool is_damage(const Poco::Exception& e) noexcept {
  return dynamic_cast<const Poco::Data::SQLite::CorruptImageException*>(&e) ||
         e.displayText().find("not a database") != std::string::npos;
}

std::string set_aside(const std::string& file) {
  const auto stamp =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::string aside = file + ".damaged-" + std::to_string(stamp.count());
  for (const char* part : {"", "-wal", "-shm"}) {
    std::error_code absent;
    fs::rename(file + part, aside + part, absent);
  }
  return aside;
}

}  // namespace

std::string file_in(const std::string& folder) { return folder + "/portico.sqlite3"; }

Session connect(const std::string& file, durability d) {
  Poco::Data::SQLite::Connector::registerConnector();
  Session session(Poco::Data::SQLite::Connector::KEY, file, 5);
  run(session, "PRAGMA busy_timeout = 5000");
  run(session, "PRAGMA journal_mode = WAL");
  run(session, d == durability::full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  run(session, "PRAGMA cache_size = -4096");  // KiB
  return session;
}

void migrate(Session& session, const std::string& file) {
  const int version = pragma(session, "user_version"), whose = pragma(session, "application_id");
  if (version == 0 && whose == 0) {
    int tables = 0;
    session << "SELECT count(*) FROM sqlite_master", into(tables), now;
    if (tables) throw std::runtime_error(file + ": is a database of another program");
    run(session, "BEGIN IMMEDIATE");
    for (const char* step : first_schema) run(session, step);
    run(session, "PRAGMA application_id = " + std::to_string(application));
    run(session, "PRAGMA user_version = 1");
    run(session, "COMMIT");
    return;
  }
  if (whose != application) throw std::runtime_error(file + ": is a database of another program");
  if (version > schema_version)
    throw std::runtime_error(file + ": was written by a newer portico (its schema is " + std::to_string(version) +
                             ", this one knows " + std::to_string(schema_version) +
                             "); run that one, or use another directory");
}

Session open_store(const std::string& folder, durability d, const std::function<void(const std::string&)>& report) {
  const std::string file = file_in(folder);
  for (bool again = false;; again = true) {
    try {
      Session session = connect(file, d);
      migrate(session, file);
      std::error_code ignored;
      for (const char* part : {"", "-wal", "-shm"})
        fs::permissions(file + part, fs::perms::owner_read | fs::perms::owner_write, ignored);
      return session;
    } catch (const Poco::Exception& e) {
      if (again || !is_damage(e)) throw std::runtime_error(file + ": cannot be opened: " + e.displayText());
      report(file + ": is damaged (" + e.displayText() + "); it is kept as " + set_aside(file) +
             ", and the store begins anew: jobs, keys and assets of before are not known any more");
    }
  }
}

std::string damage_of(Session& session) {
  std::string found;
  session << "PRAGMA quick_check(1)", into(found), now;
  return found == "ok" ? std::string() : found;
}

bool is_disk_full(const std::exception& e) noexcept {
  return dynamic_cast<const Poco::Data::SQLite::DatabaseFullException*>(&e) != nullptr;
}

}  // namespace job_store
