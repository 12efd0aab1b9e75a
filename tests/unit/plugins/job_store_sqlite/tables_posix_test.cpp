// What is written is what is read.
#include <catch2/catch.hpp>
#include <limits>

#include "folder.hpp"
#include "plugins/job_store_sqlite/tables.hpp"

using namespace job_store;

namespace {

constexpr std::int64_t day = std::int64_t{24} * 60 * 60 * 1'000'000, t0 = 1'800'000'000'000'000;

job_record job_of(unsigned char n, std::int64_t created) {
  job_record j;
  j.id.fill(n);
  j.created = created;
  j.graph = "{\"" + std::to_string(n) + "\":1}";
  j.nodes = n;
  return j;
}

struct store_fixture {
  folder f;
  Poco::Data::Session session = f.open();
  writes w{session};

  void end(unsigned char n, int status, const std::string& text = "{}") {
    job_record j = job_of(n, 0);
    j.phase = STORE_ENDED;
    j.status = status;
    j.started = 5;
    j.text = text;
    w.ended(j);
  }
  std::optional<job_record> find(unsigned char n, bool with_graph = true) {
    job_id id;
    id.fill(n);
    std::optional<job_record> found;
    find_job(session, id, with_graph, [&](const job_record& j) { found = j; });
    return found;
  }
  // The numbers of the jobs that a list shows.
  std::string list(std::uint32_t statuses, std::uint32_t limit = 100,
                   std::int64_t before = std::numeric_limits<std::int64_t>::max()) {
    store_query q{};
    q.struct_size = sizeof q;
    q.statuses = statuses;
    q.before = before;
    q.limit = limit;
    std::string out;
    list_jobs(session, q, [&](const job_record& j) { out += std::to_string(j.id[0]) + ' '; });
    return out;
  }
};

constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();

}  // namespace

TEST_CASE("a job is found as it was submitted, and as it ended") {
  store_fixture s;
  job_record j = job_of(1, t0);
  j.metadata = "é/\"'";
  j.priority = -7;
  CHECK(s.w.submit(j, ""));
  const auto found = s.find(1);
  REQUIRE(found);
  CHECK(found->metadata == j.metadata);
  CHECK(found->priority == -7);
  CHECK(found->graph == j.graph);
  CHECK(found->nodes == 1);
  CHECK(found->created == t0);
  CHECK(found->phase == STORE_SUBMITTING);
  s.w.accepted(j.id);
  CHECK(s.find(1)->phase == STORE_ACTIVE);
  s.end(1, 2, "{\"\x01\":1}");
  const auto over = s.find(1, false);
  CHECK(over->phase == STORE_ENDED);
  CHECK(over->status == 2);
  CHECK(over->started == 5);
  CHECK(over->text == "{\"\x01\":1}");
  CHECK(over->graph.empty());
  s.w.accepted(j.id);
  s.end(1, 5, "other");
  CHECK(s.find(1)->text == "{\"\x01\":1}");  // it never changes again
  CHECK_FALSE(s.find(2));
}

TEST_CASE("a job without metadata and priority has none") {
  store_fixture s;
  job_record with = job_of(1, t0);
  with.metadata = "";
  with.priority = 0;
  s.w.submit(with, "");
  s.w.submit(job_of(2, t0 + 1), "");
  CHECK(s.find(1)->metadata == "");
  CHECK(s.find(1)->priority == 0);
  CHECK_FALSE(s.find(2)->metadata);
  CHECK_FALSE(s.find(2)->priority);
}

TEST_CASE("a key lets one job through in 24 hours, unless the job is taken back") {
  store_fixture s;
  CHECK(s.w.submit(job_of(1, t0), "k"));
  CHECK_FALSE(s.w.submit(job_of(2, t0 + 1), "k"));
  CHECK_FALSE(s.find(2));
  CHECK(s.w.submit(job_of(2, t0 + 1), "other"));
  CHECK_FALSE(s.w.submit(job_of(3, t0 + day - 1), "k"));
  CHECK(s.w.submit(job_of(3, t0 + day), "k"));
  s.w.removed(job_of(2, 0).id, false);
  CHECK_FALSE(s.find(2));
  CHECK(s.w.submit(job_of(4, t0 + 2), "other"));
  s.w.removed(job_of(4, 0).id, true);
  CHECK_FALSE(s.find(4));
  CHECK_FALSE(s.w.submit(job_of(5, t0 + 3), "other"));
}

TEST_CASE("lists have the newest first, open jobs always, and others by how they ended") {
  store_fixture s;
  for (unsigned char n = 1; n <= 6; ++n) s.w.submit(job_of(n, t0 + n), "");
  s.end(1, 2), s.end(3, 5), s.end(4, 2), s.end(6, 4);
  CHECK(s.list(all) == "6 5 4 3 2 1 ");
  CHECK(s.list(all, 2) == "6 5 ");
  CHECK(s.list(all, 2, t0 + 5) == "4 3 ");
  CHECK(s.list(1u << 2) == "5 4 2 1 ");
  CHECK(s.list(1u << 2, 3) == "5 4 2 ");
  CHECK(s.list(1u << 5 | 1u << 4) == "6 5 3 2 ");
  CHECK(s.list(1u << 6) == "5 2 ");
  CHECK(last_created(s.session) == t0 + 6);
  std::string open;
  open_jobs(s.session, [&](const job_record& j) { open += std::to_string(j.id[0]) + j.graph; });
  CHECK(open == "2{\"2\":1}5{\"5\":1}");
}

TEST_CASE("what is over is swept, and nothing else") {
  store_fixture s;
  for (unsigned char n = 1; n <= 3; ++n) s.w.submit(job_of(n, t0 + n), "k" + std::to_string(n));
  s.end(1, 2), s.end(3, 2);
  CHECK_FALSE(s.w.sweep(t0 + 3, t0 + 2, t0));
  CHECK(s.list(all) == "3 2 ");
  CHECK(s.w.submit(job_of(4, t0 + 4), "k1"));
  CHECK_FALSE(s.w.submit(job_of(5, t0 + 5), "k2"));
  std::string graphs;
  open_jobs(s.session, [&](const job_record& j) { graphs += j.graph; });
  CHECK(graphs == "{\"2\":1}{\"4\":1}");
}

TEST_CASE("assets come back whole, in the order they were made, until they expire or are removed") {
  store_fixture s;
  asset_record a;
  a.id = "one", a.hash = "blake3:00", a.content_type = "image/png", a.file_path = "a b.png", a.reference = "r";
  a.target = "t", a.tags = "[\"x\"]", a.name = "n", a.subfolder = "s", a.folder = "input", a.disk_path = "/d";
  a.kind = 1, a.size = 1ull << 40, a.disk_changed = 7, a.created = t0 + 1, a.expires = 0;
  s.w.put(a);
  asset_record b = a;
  b.id = "two", b.created = t0, b.expires = t0 + 10;
  s.w.put(b);
  const auto ids = [&](std::int64_t present) {
    std::string out;
    all_assets(s.session, present, [&](const asset_record& x) { out += x.id + ' '; });
    return out;
  };
  CHECK(ids(t0) == "two one ");
  CHECK(ids(t0 + 10) == "one ");
  asset_record back;
  all_assets(s.session, t0 + 10, [&](const asset_record& x) { back = x; });
  const store_asset x = back.view(), y = a.view();
  CHECK((back.hash == a.hash && back.content_type == a.content_type && back.file_path == a.file_path));
  CHECK((back.reference == a.reference && back.target == a.target && back.tags == a.tags && back.name == a.name));
  CHECK((back.subfolder == a.subfolder && back.folder == a.folder && back.disk_path == a.disk_path));
  CHECK((x.kind == y.kind && x.size == y.size && x.disk_changed == y.disk_changed && x.created == y.created));
  b.expires = t0 + 20;
  s.w.put(b);
  CHECK(ids(t0 + 10) == "two one ");
  s.w.sweep(0, 0, t0 + 20);
  CHECK(ids(t0) == "one ");
  s.w.remove_asset("one");
  s.w.remove_asset("none");
  CHECK(ids(t0).empty());
}

TEST_CASE("a value is stored once") {
  store_fixture s;
  const std::string bytes("\0\1\xff", 3);
  CHECK(value_of(s.session, "secret", bytes) == bytes);
  CHECK(value_of(s.session, "secret", "abc") == bytes);
  CHECK(value_of(s.session, "other", "abc") == "abc");
}
