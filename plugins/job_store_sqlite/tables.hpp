// plugins/job_store_sqlite/tables.hpp - what is written and read, in SQL.
//
// Each class prepares its statements once, on one connection, and belongs to the thread that uses that.
#pragma once
#include <Poco/Data/LOB.h>
#include <Poco/Data/Session.h>
#include <Poco/Data/Statement.h>
#include <Poco/Nullable.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/job_store_sqlite/records.hpp"

namespace job_store {

// What is done inside a transaction of the writer's.  All but values() throw Poco::Exception.
class writes {
 public:
  explicit writes(Poco::Data::Session&);

  // False, and nothing is changed: the key was claimed less than 24 hours before the job was made.
  bool submit(const job_record&, const std::string& key);
  void accepted(const job_id&);
  void removed(const job_id&, bool keep_key);
  void ended(const job_record&);
  void put(const asset_record&);
  void remove_asset(const std::string& id);
  // Forgets what is over: jobs that ended and keys that were claimed before those times, assets that have expired by
  // now. At most about a thousand of each; true: there may be more.
  bool sweep(std::int64_t jobs_before, std::int64_t keys_before, std::int64_t now);

 private:
  void bind(const job_record&);

  Poco::Data::Session& session_;
  // What the statements are bound to.
  Poco::Data::BLOB id_, key_;
  job_record job_;
  asset_record asset_;
  std::int64_t time_ = 0, claimed_ = 0;
  std::uint32_t size_ = 0;
  int found_ = 0;
  Poco::Nullable<std::string> metadata_;
  Poco::Nullable<std::int32_t> priority_;
  Poco::Data::Statement find_key_, claim_, insert_, insert_graph_, accept_, remove_key_, remove_graph_, remove_job_,
      end_, put_, remove_asset_;
};

// What is read.
using see_job = std::function<void(const job_record&)>;
void find_job(Poco::Data::Session&, const job_id&, bool with_graph, const see_job&);
void list_jobs(Poco::Data::Session&, const store_query&, const see_job&);
void open_jobs(Poco::Data::Session&, const see_job&);
std::int64_t last_created(Poco::Data::Session&);
void all_assets(Poco::Data::Session&, std::int64_t now, const std::function<void(const asset_record&)>&);

// The value of that name; `initial` is stored and given when there is none.
std::string value_of(Poco::Data::Session&, const std::string& name, const std::string& initial);

}  // namespace job_store
