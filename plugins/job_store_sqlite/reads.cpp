#include "plugins/job_store_sqlite/tables.hpp"

#include <algorithm>
#include <limits>

namespace job_store {

using namespace Poco::Data::Keywords;
using Poco::Data::Session;
using Poco::Data::Statement;

namespace {

constexpr const char* job_columns = "SELECT created, id, phase, status, started, nodes, priority, metadata, text";

// One row after the other of a statement that selects job_columns, and the graph as well if `with_graph`.
struct job_row {
  job_record record;
  Poco::Data::BLOB id;
  Poco::Nullable<std::int32_t> priority;
  Poco::Nullable<std::string> metadata;

  void into_row(Statement& s) {
    s, into(record.created), into(id), into(record.phase), into(record.status), into(record.started),
        into(record.nodes), into(priority), into(metadata), into(record.text);
  }
  void each(Statement& s, const see_job& see) {
    s, limit(1);
    while (!s.done()) {
      if (s.execute() == 0) break;
      record.id = {};
      std::copy_n(id.rawContent(), std::min(id.size(), record.id.size()), record.id.begin());
      record.priority.reset();
      record.metadata.reset();
      if (!priority.isNull()) record.priority = priority.value();
      if (!metadata.isNull()) record.metadata = metadata.value();
      see(record);
    }
  }
};

}  // namespace

void find_job(Session& session, const job_id& wanted, bool with_graph, const see_job& see) {
  Poco::Data::BLOB id(wanted.data(), wanted.size());
  job_row row;
  Statement s(session);
  s << std::string(job_columns) + " FROM job WHERE id = ?", use(id);
  row.into_row(s);
  bool found = false;
  row.each(s, [&](const job_record&) { found = true; });
  if (!found) return;
  if (with_graph)
    session << "SELECT graph FROM graph WHERE created = ?", use(row.record.created), into(row.record.graph), now;
  see(row.record);
}

// Of each status the newest are taken, by its index, and of these the newest: a rare status does not cost a walk
// through all.
void list_jobs(Session& session, const store_query& query, const see_job& see) {
  const std::string range =
      " AND created < " + std::to_string(query.before) + " ORDER BY created DESC LIMIT " + std::to_string(query.limit);
  std::string where;
  if (query.statuses == std::numeric_limits<std::uint32_t>::max()) {
    where = " WHERE true" + range;
  } else {
    where = " WHERE created IN (SELECT * FROM (SELECT created FROM job WHERE phase < 2" + range + ")";
    for (int status = 0; status < 32; ++status)
      if (query.statuses >> status & 1)
        where +=
            " UNION ALL SELECT * FROM (SELECT created FROM job WHERE phase = 2 AND status = " + std::to_string(status) +
            range + ")";
    where += ")" + range;
  }
  job_row row;
  Statement s(session);
  s << std::string(job_columns) + " FROM job" + where;
  row.into_row(s);
  row.each(s, see);
}

void open_jobs(Session& session, const see_job& see) {
  job_row row;
  Statement s(session);
  s << std::string(job_columns) +
           ", coalesce((SELECT graph FROM graph WHERE graph.created = job.created), '') FROM job WHERE phase < 2 ORDER "
           "BY created";
  row.into_row(s);
  s, into(row.record.graph);
  row.each(s, see);
}

std::int64_t last_created(Session& session) {
  std::int64_t created = 0;
  session << "SELECT coalesce(max(created), 0) FROM job", into(created), now;
  return created;
}

void all_assets(Session& session, std::int64_t present, const std::function<void(const asset_record&)>& see) {
  asset_record a;
  Statement s(session);
  s << "SELECT id, kind, hash, size, content_type, file_path, reference, target, tags, name, subfolder, folder, "
       "disk_path,"
       " disk_changed, created, expires FROM asset WHERE expires = 0 OR expires > ? ORDER BY created, id",
      use(present), into(a.id), into(a.kind), into(a.hash), into(a.size), into(a.content_type), into(a.file_path),
      into(a.reference), into(a.target), into(a.tags), into(a.name), into(a.subfolder), into(a.folder),
      into(a.disk_path), into(a.disk_changed), into(a.created), into(a.expires), limit(1);
  while (!s.done()) {
    if (s.execute() == 0) break;
    see(a);
  }
}

std::string value_of(Session& session, const std::string& name_, const std::string& initial) {
  std::string name = name_;
  Poco::Data::BLOB bytes(reinterpret_cast<const unsigned char*>(initial.data()), initial.size());
  session << "INSERT OR IGNORE INTO value (name, bytes) VALUES (?, ?)", use(name), use(bytes), now;
  Poco::Data::BLOB stored;
  session << "SELECT bytes FROM value WHERE name = ?", use(name), into(stored), now;
  return std::string(reinterpret_cast<const char*>(stored.rawContent()), stored.size());
}

}  // namespace job_store
