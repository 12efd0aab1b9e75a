// plugins/job_store_sqlite/import_source.hpp - the state of the reference proxy, read.
//
// All of it throws std::runtime_error: one line that names the file, what is wrong and what to do.
#pragma once
#include <Poco/Data/Session.h>
#include <Poco/Data/Statement.h>
#include <Poco/Nullable.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace job_store {

// The reference's file may have a log beside it that belongs to it, and to read both SQLite has to write.  So a copy is
// read, in a folder of its own that lives as long as this.
class import_source {
 public:
  // folder: that of the reference.  beside: where the copy's folder is made.
  import_source(const std::string& folder, const std::string& beside);
  ~import_source();
  import_source(const import_source&) = delete;
  import_source& operator=(const import_source&) = delete;

  const std::string& file() const noexcept { return file_; }  // as messages name it
  Poco::Data::Session& session() noexcept { return *session_; }

  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_row(const std::string& table, const std::string& row, const std::string& what) const;

 private:
  void copy(const std::filesystem::path& from) const;
  void open();
  void need_tables();

  const std::string file_;
  const std::filesystem::path scratch_;
  std::optional<Poco::Data::Session> session_;
};

// The rows of a table, one after the other, each column as text.
class import_rows {
 public:
  // The columns must be such as CAST(... AS TEXT); the first one names the row in messages.
  import_rows(import_source&, std::string table, const std::string& columns, const std::string& rest);

  bool next();
  // Of the present row; null where the column is.
  const Poco::Nullable<std::string>& operator[](std::size_t i) const { return values_[i]; }
  // One that is not null.
  const std::string& text(std::size_t i) const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  import_source& source_;
  const std::string table_;
  std::vector<std::string> names_;
  std::vector<Poco::Nullable<std::string>> values_;
  std::optional<Poco::Data::Statement> statement_;
};

}  // namespace job_store
