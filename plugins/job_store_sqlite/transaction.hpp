// plugins/job_store_sqlite/transaction.hpp - everything or nothing.
#pragma once
#include <Poco/Data/Session.h>
#include <Poco/Data/Statement.h>
#include <Poco/Exception.h>

namespace job_store {

// A transaction; undone unless commit() came to its end.
class transaction {
 public:
  explicit transaction(Poco::Data::Session& s) : session_(s) {
    session_ << "BEGIN IMMEDIATE", Poco::Data::Keywords::now;
  }
  ~transaction() {
    if (over_) return;
    try {
      session_ << "ROLLBACK", Poco::Data::Keywords::now;
    } catch (const Poco::Exception&) {  // SQLite has undone it already
    }
  }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  void commit() {
    session_ << "COMMIT", Poco::Data::Keywords::now;
    over_ = true;
  }

 private:
  Poco::Data::Session& session_;
  bool over_ = false;
};

}  // namespace job_store
