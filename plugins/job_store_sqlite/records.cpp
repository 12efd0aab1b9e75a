#include "plugins/job_store_sqlite/records.hpp"

namespace job_store {
namespace {

std::string text_of(portico_str s) { return std::string(s.data ? s.data : "", s.size); }
portico_str borrowed(const std::string& s) { return {s.data(), s.size()}; }

// The texts of an asset, in one order for both ways.
template <class Record, class Struct, class F>
void each_text(Record& r, Struct& s, F f) {
  f(r.id, s.id), f(r.hash, s.hash), f(r.content_type, s.content_type), f(r.file_path, s.file_path);
  f(r.reference, s.reference), f(r.target, s.target), f(r.tags, s.tags), f(r.name, s.name);
  f(r.subfolder, s.subfolder), f(r.folder, s.folder), f(r.disk_path, s.disk_path);
}

}  // namespace

job_record::job_record(const store_job& j)
    : id(id_of(j.id)),
      phase(j.phase),
      status(j.status),
      created(j.created),
      started(j.started),
      nodes(j.nodes),
      graph(text_of(j.graph)),
      text(text_of(j.text)) {
  if (j.has_metadata) metadata = text_of(j.metadata);
  if (j.has_priority) priority = j.priority;
}

store_job job_record::view() const {
  store_job j{};
  j.struct_size = sizeof j;
  for (std::size_t i = 0; i < id.size(); ++i) j.id[i] = id[i];
  j.phase = phase;
  j.status = status;
  j.created = created;
  j.started = started;
  j.nodes = nodes;
  j.has_metadata = metadata ? 1 : 0;
  if (metadata) j.metadata = borrowed(*metadata);
  j.has_priority = priority ? 1 : 0;
  j.priority = priority.value_or(0);
  j.graph = borrowed(graph);
  j.text = borrowed(text);
  return j;
}

asset_record::asset_record(const store_asset& a)
    : kind(a.kind), size(a.size), disk_changed(a.disk_changed), created(a.created), expires(a.expires) {
  each_text(*this, a, [](std::string& mine, portico_str theirs) { mine = text_of(theirs); });
}

store_asset asset_record::view() const {
  store_asset a{};
  a.struct_size = sizeof a;
  a.kind = kind;
  a.size = size;
  a.disk_changed = disk_changed;
  a.created = created;
  a.expires = expires;
  each_text(*this, a, [](const std::string& mine, portico_str& theirs) { theirs = borrowed(mine); });
  return a;
}

}  // namespace job_store
