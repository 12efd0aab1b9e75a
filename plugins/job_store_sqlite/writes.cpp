#include "plugins/job_store_sqlite/tables.hpp"

namespace job_store {

using namespace Poco::Data::Keywords;
using Poco::Data::Session;

namespace {

Poco::Data::BLOB blob_of(std::string_view bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}
Poco::Data::BLOB blob_of(const job_id& id) { return {id.data(), id.size()}; }

}  // namespace

writes::writes(Session& s)
    : session_(s),
      find_key_(s),
      claim_(s),
      insert_(s),
      insert_graph_(s),
      accept_(s),
      remove_key_(s),
      remove_graph_(s),
      remove_job_(s),
      end_(s),
      put_(s),
      remove_asset_(s) {
  find_key_ << "SELECT count(*) FROM key WHERE name = ? AND claimed > ?", use(key_), use(claimed_), into(found_);
  claim_ << "INSERT OR REPLACE INTO key (name, claimed, job) VALUES (?, ?, ?)", use(key_), use(time_), use(id_);
  insert_ << "INSERT INTO job (created, id, phase, status, started, nodes, priority, metadata, text)"
             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      use(job_.created), use(id_), use(job_.phase), use(job_.status), use(job_.started), use(job_.nodes),
      use(priority_), use(metadata_), use(job_.text);
  insert_graph_ << "INSERT INTO graph (created, graph) VALUES (?, ?)", use(job_.created), use(job_.graph);
  accept_ << "UPDATE job SET phase = 1 WHERE id = ? AND phase = 0", use(id_);
  remove_key_ << "DELETE FROM key WHERE job = ?", use(id_);
  remove_graph_ << "DELETE FROM graph WHERE created = (SELECT created FROM job WHERE id = ?)", use(id_);
  remove_job_ << "DELETE FROM job WHERE id = ?", use(id_);
  end_ << "UPDATE job SET phase = 2, status = ?, started = ?, text = ? WHERE id = ? AND phase < 2", use(job_.status),
      use(job_.started), use(job_.text), use(id_);
  put_ << "INSERT OR REPLACE INTO asset (id, kind, hash, size, content_type, file_path, reference, target, tags, name,"
          " subfolder, folder, disk_path, disk_changed, created, expires)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      use(asset_.id), use(asset_.kind), use(asset_.hash), use(asset_.size), use(asset_.content_type),
      use(asset_.file_path), use(asset_.reference), use(asset_.target), use(asset_.tags), use(asset_.name),
      use(asset_.subfolder), use(asset_.folder), use(asset_.disk_path), use(asset_.disk_changed), use(asset_.created),
      use(asset_.expires);
  remove_asset_ << "DELETE FROM asset WHERE id = ?", use(asset_.id);
}

void writes::bind(const job_record& j) {
  job_ = j;
  id_ = blob_of(j.id);
  metadata_ = j.metadata ? Poco::Nullable<std::string>(*j.metadata) : Poco::Nullable<std::string>();
  priority_ = j.priority ? Poco::Nullable<std::int32_t>(*j.priority) : Poco::Nullable<std::int32_t>();
}

bool writes::submit(const job_record& j, const std::string& key) {
  bind(j);
  if (!key.empty()) {
    key_ = blob_of(key);
    time_ = j.created;
    claimed_ = j.created - key_lifetime;
    find_key_.execute();
    if (found_) return false;
    claim_.execute();
  }
  insert_.execute();
  if (!job_.graph.empty()) insert_graph_.execute();
  return true;
}

void writes::accepted(const job_id& id) {
  id_ = blob_of(id);
  accept_.execute();
}

void writes::removed(const job_id& id, bool keep_key) {
  id_ = blob_of(id);
  if (!keep_key) remove_key_.execute();
  remove_graph_.execute();
  remove_job_.execute();
}

void writes::ended(const job_record& j) {
  bind(j);
  end_.execute();
}

void writes::put(const asset_record& a) {
  asset_ = a;
  put_.execute();
}

void writes::remove_asset(const std::string& id) {
  asset_.id = id;
  remove_asset_.execute();
}

bool writes::sweep(std::int64_t jobs_before, std::int64_t keys_before, std::int64_t present) {
  constexpr std::size_t at_once = 1000;
  std::vector<std::int64_t> over;
  session_ << "SELECT created FROM job WHERE phase = 2 AND created < ? ORDER BY created LIMIT 1000", use(jobs_before),
      into(over), now;
  for (std::int64_t& created : over) {
    session_ << "DELETE FROM graph WHERE created = ?", use(created), now;
    session_ << "DELETE FROM job WHERE created = ?", use(created), now;
  }
  Poco::Data::Statement old_keys(session_);
  old_keys << "DELETE FROM key WHERE name IN (SELECT name FROM key WHERE claimed < ? LIMIT 1000)", use(keys_before);
  const std::size_t keys = old_keys.execute();
  session_ << "DELETE FROM asset WHERE expires > 0 AND expires <= ?", use(present), now;
  return over.size() == at_once || keys == at_once;
}

}  // namespace job_store
