#include "plugins/job_store_sqlite/import_source.hpp"

#include <Poco/Exception.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "plugins/job_store_sqlite/database.hpp"
#include "plugins/job_store_sqlite/import_text.hpp"

namespace job_store {
namespace {

using namespace Poco::Data::Keywords;
namespace fs = std::filesystem;

constexpr const char* parts[] = {"", "-wal", "-journal"};  // that a database may consist of

fs::path as_path(const std::string& utf8) { return fs::path(std::u8string(utf8.begin(), utf8.end())); }

std::string as_text(const fs::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

fs::path part_of(fs::path file, const char* part) { return file += part; }

// Two of them differ when somebody has written in between.
struct looks {
  std::array<std::uintmax_t, std::size(parts)> sizes{};
  std::array<fs::file_time_type, std::size(parts)> times{};
  explicit looks(const fs::path& file) {
    for (std::size_t i = 0; i < std::size(parts); ++i) {
      std::error_code absent;
      sizes[i] = fs::file_size(part_of(file, parts[i]), absent);
      times[i] = fs::last_write_time(part_of(file, parts[i]), absent);
    }
  }
  bool operator==(const looks&) const = default;
};

}  // namespace

import_source::import_source(const std::string& folder, const std::string& beside)
    : file_(folder + "/state.sqlite3"), scratch_(as_path(beside) / "importing") {
  const fs::path from = as_path(file_);
  std::error_code why;
  if (!fs::exists(from, why)) {
    if (why) refuse("cannot be looked at: " + why.message());
    refuse("is not there; give the folder that was the --state-dir of comfy-api-proxy");
  }
  try {
    copy(from);
    open();
  } catch (...) {
    session_.reset();
    fs::remove_all(scratch_, why);
    throw;
  }
}

import_source::~import_source() {
  session_.reset();
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

void import_source::copy(const fs::path& from) const {
  const looks before(from);
  try {
    fs::remove_all(scratch_);  // of one that was killed
    fs::create_directory(scratch_);
    fs::permissions(scratch_, fs::perms::owner_all);
    for (const char* part : parts)
      if (fs::exists(part_of(from, part))) {
        const fs::path to = part_of(scratch_ / "state.sqlite3", part);
        fs::copy_file(part_of(from, part), to);
        fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write);
      }
  } catch (const fs::filesystem_error& e) {
    refuse("cannot be copied to " + as_text(scratch_) + ": " + e.code().message());
  }
  if (looks(from) != before) refuse("is being written; stop comfy-api-proxy first");
}

void import_source::open() {
  try {
    session_.emplace(connect(as_text(scratch_ / "state.sqlite3"), durability::normal));
    if (const std::string damage = damage_of(*session_); !damage.empty())
      refuse("is damaged (" + damage + "); mend it, or restore a copy");
    need_tables();
  } catch (const Poco::Exception& e) {
    if (e.displayText().find("not a database") != std::string::npos)
      refuse("is no SQLite database; give the folder that was the --state-dir of comfy-api-proxy");
    refuse("cannot be read: " + e.displayText());
  }
}

void import_source::need_tables() {
  std::vector<std::string> present;
  *session_ << "SELECT name FROM sqlite_master WHERE type = 'table'", into(present), now;
  for (const char* needed : {"meta", "jobs", "idempotency_keys", "assets"})
    if (std::find(present.begin(), present.end(), needed) == present.end())
      refuse(std::string("has no table ") + needed +
             "; give the folder that was the --state-dir of comfy-api-proxy 0.1.6");
}

void import_source::refuse(const std::string& what) const {
  throw std::runtime_error("import_state: " + file_ + " " + what);
}

void import_source::refuse_row(const std::string& table, const std::string& row, const std::string& what) const {
  refuse("table " + table + ", row " + in_quotes(row) + ": " + what + "; mend or delete the row, and import again");
}

import_rows::import_rows(import_source& source, std::string table, const std::string& columns, const std::string& rest)
    : source_(source), table_(std::move(table)) {
  std::string casts;
  for (std::string_view left = columns; !left.empty();) {
    const std::string_view name = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(name.size() + 1, left.size()));
    names_.emplace_back(name);
    casts.append(casts.empty() ? "" : ", ").append("CAST(").append(name).append(" AS TEXT)");
  }
  values_.resize(names_.size());
  statement_.emplace(source_.session());
  *statement_ << "SELECT " + casts + " FROM " + table_ + " " + rest;
  for (Poco::Nullable<std::string>& value : values_) *statement_, into(value);
  *statement_, limit(1);
}

bool import_rows::next() {
  try {
    if (statement_->done() || statement_->execute() == 0) return false;
  } catch (const Poco::Exception& e) {
    source_.refuse("cannot be read: " + e.displayText());
  }
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!values_[i].isNull() && !is_utf8(values_[i].value())) refuse(names_[i] + " is no text in UTF-8");
  return true;
}

const std::string& import_rows::text(std::size_t i) const {
  if (values_[i].isNull()) refuse(names_[i] + " is missing");
  return values_[i].value();
}

void import_rows::refuse(const std::string& what) const {
  source_.refuse_row(table_, values_[0].isNull() ? std::string() : values_[0].value(), what);
}

}  // namespace job_store
