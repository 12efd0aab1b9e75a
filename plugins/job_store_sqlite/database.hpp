// plugins/job_store_sqlite/database.hpp - the SQLite file: how it is opened, and what is in it.
#pragma once
#include <Poco/Data/Session.h>

#include <functional>
#include <string>

namespace job_store {

enum class durability { full, normal };

constexpr int schema_version = 1;

// One connection.  Used by one thread at a time.
Poco::Data::Session connect(const std::string& file, durability);

// Brings the file to the present schema, step by step, each in a transaction.  std::runtime_error: it is of a newer
// portico, or no store at all; nothing is changed then.
void migrate(Poco::Data::Session&, const std::string& file);

// Opens the store in the folder, making it if it is not there.  A file that SQLite finds damaged is renamed, with a
// name that says when, and `report` is told; the store begins anew then.
Poco::Data::Session open_store(const std::string& folder, durability,
                               const std::function<void(const std::string&)>& report);

std::string file_in(const std::string& folder);

// The first lines of what SQLite finds wrong with the whole file; empty: nothing.
std::string damage_of(Poco::Data::Session&);

// How SQLite says that the disk is full.
bool is_disk_full(const std::exception&) noexcept;

}  // namespace job_store
