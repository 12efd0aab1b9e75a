#include "plugins/jobs/archive.hpp"

#include <algorithm>
#include <portico/response.hpp>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/jobs/idempotency.hpp"

namespace jobs {
namespace {

using portico::http_error;
using portico::task;
using portico::to_abi;
using portico::view;

std::shared_ptr<job> restored(const store_job& s) {
  job_id id;
  std::copy_n(s.id, id.bytes.size(), id.bytes.begin());
  std::shared_ptr<const std::string> graph;
  if (s.graph.size) graph = std::make_shared<const std::string>(view(s.graph));
  std::optional<std::string> metadata;
  if (s.has_metadata) metadata = std::string(view(s.metadata));
  std::optional<std::int32_t> priority;
  if (s.has_priority) priority = s.priority;
  auto j = std::make_shared<job>(id, s.created, std::move(graph), s.nodes, std::move(metadata), priority);
  if (s.phase != STORE_SUBMITTING) j->accepted();
  if (s.phase == STORE_ENDED) j->end(ended_job(static_cast<status>(s.status), s.started, std::string(view(s.text))));
  return j;
}

// What never changes of a job; views into it.
store_job facts_of(const job& j) {
  store_job s{};
  s.struct_size = sizeof s;
  std::copy(j.id().bytes.begin(), j.id().bytes.end(), s.id);
  s.created = j.created_us();
  s.nodes = j.nodes();
  s.has_metadata = j.metadata() ? 1 : 0;
  if (j.metadata()) s.metadata = to_abi(*j.metadata());
  s.has_priority = j.priority() ? 1 : 0;
  s.priority = j.priority().value_or(0);
  return s;
}

void PORTICO_CALL keep_one(void* into, const store_job* s) { *static_cast<std::shared_ptr<job>*>(into) = restored(*s); }
void PORTICO_CALL keep_all(void* into, const store_job* s) {
  static_cast<std::vector<std::shared_ptr<job>>*>(into)->push_back(restored(*s));
}
void PORTICO_CALL tell(void* f, const store_job* s) {
  const bool doubtful = s->phase == STORE_SUBMITTING;
  (*static_cast<const std::function<void(std::shared_ptr<job>, bool)>*>(f))(restored(*s), doubtful);
}

[[noreturn]] void throw_unwritten(const portico::error& e) {
  switch (e.code()) {
    case PORTICO_E_STATE:
      throw key_taken();
    case PORTICO_E_LIMIT:
      throw http_error(507, comfy::code::insufficient_storage,
                       "there is no space left to write the job down; nothing was submitted");
    default:
      throw http_error(500, "internal", "the job could not be written down; nothing was submitted");
  }
}

}  // namespace

std::string archive::value(std::string_view name, std::string initial) const {
  portico::check(store_.table().value(store_.self(), to_abi(name), initial.data(), initial.size()));
  return initial;
}

std::int64_t archive::last_created_us() const {
  std::int64_t created = 0;
  portico::check(store_.table().last_created(store_.self(), &created));
  return created;
}

void archive::each_open(const std::function<void(std::shared_ptr<job>, bool)>& f) const {
  auto* user = const_cast<void*>(static_cast<const void*>(&f));  // tell only calls it
  portico::check(store_.table().open_jobs(store_.self(), &tell, user));
}

task<> archive::submit(std::shared_ptr<job> j, std::string key) const {
  const std::shared_ptr<const std::string> graph = j->graph();
  store_job s = facts_of(*j);
  s.phase = STORE_SUBMITTING;
  s.graph = to_abi(*graph);
  try {
    co_await portico::ask(host_, [&](portico_done done, void* user) {
      return store_.table().submit(store_.self(), &s, to_abi(key), done, user);
    });
  } catch (const portico::error& e) {
    throw_unwritten(e);
  }
}

void archive::accepted(const job& j) const { store_.table().accepted(store_.self(), j.id().bytes.data()); }

task<> archive::removed(job_id id, bool keep_key) const {
  try {
    co_await portico::ask(host_, [&](portico_done done, void* user) {
      return store_.table().removed(store_.self(), id.bytes.data(), keep_key ? 1 : 0, done, user);
    });
  } catch (const portico::error&) {  // the store has said why
  }
}

task<> archive::ended(std::shared_ptr<job> j, const ended_job& how) const {
  store_job s = facts_of(*j);
  s.phase = STORE_ENDED;
  s.status = static_cast<std::int32_t>(how.state);
  s.started = how.started_us;
  s.text = to_abi(how.text);
  try {
    co_await portico::ask(
        host_, [&](portico_done done, void* user) { return store_.table().ended(store_.self(), &s, done, user); });
  } catch (const portico::error&) {  // the store has said why
  }
}

task<std::shared_ptr<job>> archive::find(job_id id, bool with_graph) const {
  std::shared_ptr<job> found;
  co_await portico::ask(host_, [&](portico_done done, void* user) {
    return store_.table().find(store_.self(), id.bytes.data(), with_graph ? 1 : 0, &keep_one, &found, done, user);
  });
  co_return found;
}

task<std::vector<std::shared_ptr<job>>> archive::newest(std::int64_t before_us, std::size_t n,
                                                        std::vector<status> wanted) const {
  std::vector<std::shared_ptr<job>> found;
  store_query query{};
  query.struct_size = sizeof query;
  query.before = before_us;
  query.limit = static_cast<std::uint32_t>(n);
  if (wanted.empty()) query.statuses = ~std::uint32_t{0};
  for (const status s : wanted) query.statuses |= std::uint32_t{1} << static_cast<unsigned>(s);
  co_await portico::ask(host_, [&](portico_done done, void* user) {
    return store_.table().list(store_.self(), &query, &keep_all, &found, done, user);
  });
  co_return found;
}

}  // namespace jobs
