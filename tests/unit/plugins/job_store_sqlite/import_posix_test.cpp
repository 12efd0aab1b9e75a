// The state of the reference proxy: what is taken over of it, and what is refused.
#include <Poco/Data/Statement.h>

#include <sys/stat.h>
#include <utime.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <optional>

#include "folder.hpp"
#include "plugins/comfy/uuid.hpp"
#include "plugins/job_store_sqlite/import.hpp"
#include "plugins/job_store_sqlite/tables.hpp"

using namespace job_store;
using namespace Poco::Data::Keywords;

namespace {

constexpr std::int64_t second = 1'000'000, day = 86'400 * second;
constexpr std::int64_t t0 = 1'893'456'000 * second;  // 2030-01-01T00:00:00Z
const std::string t0_text = "2030-01-01T00:00:00+00:00";
const std::string first = "00000000-0000-4000-8000-000000000001", other = "0f1e2d3c-4b5a-4697-8877-665544332211";
const std::string secret_hex = "00ff" + std::string(60, 'a');

std::string hash_of(char c) { return "blake3:" + std::string(64, c); }

// What the reference makes in its --state-dir.
struct reference {
  folder f;
  std::optional<Poco::Data::Session> session;

  explicit reference(const char* without = "") {
    session.emplace(job_store::connect((f.path / "state.sqlite3").string(), durability::normal));
    const std::map<std::string, std::string> tables = {
        {"meta", "key TEXT PRIMARY KEY, value TEXT NOT NULL"},
        {"jobs",
         "id TEXT PRIMARY KEY, created_at TEXT NOT NULL, client_id TEXT NOT NULL, metadata TEXT, priority INTEGER,"
         " workflow TEXT NOT NULL"},
        {"idempotency_keys", "key TEXT PRIMARY KEY, claimed_at TEXT NOT NULL, job_id TEXT"},
        {"assets",
         "id TEXT PRIMARY KEY, hash TEXT NOT NULL, size_bytes INTEGER NOT NULL, content_type TEXT NOT NULL, file_path "
         "TEXT, created_at TEXT NOT NULL, comfy_ref TEXT, disk_path TEXT, tags TEXT NOT NULL DEFAULT '[]'"}};
    for (const auto& [name, columns] : tables)
      if (name != without) run("CREATE TABLE " + name + " (" + columns + ")");
    if (*without == '\0') run("INSERT INTO meta VALUES ('asset_secret', '" + secret_hex + "')");
  }
  void run(const std::string& sql) { *session << sql, now; }
  void job(const std::string& id, const std::string& time = t0_text, const std::string& metadata = "NULL",
           const std::string& priority = "NULL", const std::string& workflow = "{\"1\": {}, \"2\": {}}") {
    run("INSERT INTO jobs VALUES ('" + id + "', '" + time + "', 'c', " + metadata + ", " + priority + ", '" + workflow +
        "')");
  }
  void key(const std::string& name, const std::string& time) {
    run("INSERT INTO idempotency_keys VALUES ('" + name + "', '" + time + "', NULL)");
  }
  // place: what stands in comfy_ref and disk_path.
  void asset(const std::string& id, const std::string& hash, const std::string& path, const std::string& place,
             const std::string& size = "3", const std::string& tags = "[]", const std::string& type = "image/png") {
    run("INSERT INTO assets VALUES ('" + id + "', '" + hash + "', '" + size + "', '" + type + "', '" + path + "', '" +
        t0_text + "', " + place + ", '" + tags + "')");
  }
  std::string file() const { return (f.path / "state.sqlite3").string(); }
};

const std::string in_input = R"('{"filename": "a.png", "subfolder": "sub", "type": "input"}', NULL)";

// A store that a state is taken over into.
struct target {
  folder f;
  Poco::Data::Session session = f.open();

  std::string take(const std::string& from, std::int64_t present = t0) {
    return import_state(session, f.path.string(), from, present);
  }
  std::string take(const reference& r) { return take(r.f.path.string()); }
  std::string refusal(const reference& r) {
    try {
      take(r);
    } catch (const std::runtime_error& e) {
      CHECK(rows() == 0);  // nothing is changed
      CHECK_FALSE(std::filesystem::exists(f.path / "importing"));
      return e.what();
    }
    return "it was taken over";
  }
  int rows() {
    int n = 0;
    session
        << "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM graph) + (SELECT count(*) FROM key) + (SELECT "
           "count(*) FROM asset) + (SELECT count(*) FROM value)",
        into(n), now;
    return n;
  }
  std::optional<job_record> find(const std::string& id) {
    std::optional<job_record> found;
    find_job(session, *comfy::parse_uuid(id), true, [&](const job_record& j) { found = j; });
    return found;
  }
  std::vector<asset_record> assets() {
    std::vector<asset_record> out;
    all_assets(session, t0, [&](const asset_record& a) { out.push_back(a); });
    return out;
  }
};

std::string row(const reference& r, const char* table, const std::string& name, const std::string& what) {
  return "import_state: " + r.file() + " table " + table + ", row \"" + name + "\": " + what +
         "; mend or delete the row, and import again";
}

}  // namespace

TEST_CASE("jobs, keys, assets and the secret are taken over") {
  reference r;
  r.job(other, "2030-01-01T00:00:00.000001+00:00", "'é'", "-7");
  r.job(first, t0_text, "''", "0", "{}");
  r.key("k", "2029-12-31T00:00:01+00:00");
  r.key("over", "2029-12-31T00:00:00+00:00");
  r.asset("one", hash_of('1'), "sub/a.png", in_input, "3", R"(["x", "\u00e9"])");
  target t;
  CHECK(t.take(r) == "took over 2 jobs, 1 key, 1 asset and the secret of " + r.f.path.string());
  CHECK_FALSE(std::filesystem::exists(t.f.path / "importing"));

  const auto a = t.find(other), b = t.find(first);
  REQUIRE((a && b));
  CHECK(a->phase == STORE_ACTIVE);
  CHECK(a->created == t0 + 1);
  CHECK(a->metadata == "é");
  CHECK(a->priority == -7);
  CHECK(a->nodes == 2);
  CHECK(a->graph == "{\"1\": {}, \"2\": {}}");
  CHECK(b->created == t0);
  CHECK(b->metadata == "");
  CHECK(b->priority == 0);
  CHECK(b->nodes == 0);
  CHECK(b->graph == "{}");

  writes w(t.session);
  job_record j;
  j.created = t0 + 2;
  j.id.fill(9);
  CHECK_FALSE(w.submit(j, "k"));
  CHECK(w.submit(j, "over"));

  const auto assets = t.assets();
  REQUIRE(assets.size() == 1);
  const asset_record& x = assets[0];
  CHECK((x.id == "one" && x.hash == hash_of('1') && x.size == 3 && x.content_type == "image/png"));
  CHECK((x.file_path == "sub/a.png" && x.kind == 0 && x.reference == "sub/a.png" && x.target.empty()));
  CHECK((x.name == "a.png" && x.subfolder == "sub" && x.folder == "input" && x.disk_path.empty()));
  CHECK((x.tags == "[\"x\",\"é\"]" && x.created == t0 && x.expires == 0));
  CHECK(value_of(t.session, "secret", "") == std::string("\0\xff", 2) + std::string(30, '\xaa'));
}

TEST_CASE("jobs of one moment are told apart, in their order") {
  reference r;
  for (int i = 1; i <= 3; ++i) r.job("00000000-0000-4000-8000-00000000000" + std::to_string(i));
  r.job(other, "2030-01-01T00:00:00.000001+00:00");
  target t;
  t.take(r);
  CHECK(t.find(first)->created == t0);
  CHECK(t.find("00000000-0000-4000-8000-000000000003")->created == t0 + 2);
  CHECK(t.find(other)->created == t0 + 3);
  CHECK_FALSE(t.find(first)->metadata);
  CHECK_FALSE(t.find(first)->priority);
}

TEST_CASE("numbers that Python writes and JSON does not have become null") {
  reference r;
  r.job(first, t0_text, "NULL", "NULL", R"({"1": {"a": NaN, "b": "\ud800"}})");
  target t;
  t.take(r);
  CHECK(t.find(first)->graph == "{\"1\":{\"a\":null,\"b\":\"\xef\xbf\xbd\"}}");
  CHECK(t.find(first)->nodes == 1);
}

TEST_CASE("models and files of this machine are found where they are") {
  reference r;
  const std::string base = std::filesystem::canonical(r.f.path).string() + "/comfy/models/models/checkpoints/sub";
  std::filesystem::create_directories(base);
  const std::string model = base + "/m.safetensors";
  std::ofstream(model) << "abc";
  const utimbuf then{1'000'000'000, 1'000'000'000};
  REQUIRE(::utime(model.c_str(), &then) == 0);
  std::filesystem::create_symlink(model, r.f.path / "link");
  const std::string on_disk = "NULL, '" + model + "'";
  r.asset("model", hash_of('1'), "sub/m.safetensors", on_disk);
  r.asset("renamed", hash_of('2'), "shown.safetensors", on_disk);
  r.asset("linked", hash_of('3'), "link", "NULL, '" + (r.f.path / "link").string() + "'");
  r.asset("grown", hash_of('4'), "sub/m.safetensors", on_disk, "4");
  r.asset("gone", hash_of('5'), "gone", "NULL, '/not/there'");
  r.asset("made", hash_of('6'), "output/made.png",
          R"('{"filename": "made.png", "subfolder": "", "type": "output"}', ')" + model + "'");
  target t;
  CHECK(t.take(r) == "took over 0 jobs, 0 keys, 6 assets and the secret of " + r.f.path.string());
  std::map<std::string, asset_record> found;
  for (const asset_record& a : t.assets()) found[a.id] = a;
  const auto is = [&](const char* id, int kind, const std::string& path, const char* of, const char* reference_text,
                      std::int64_t changed) {
    INFO(id);
    const asset_record& a = found.at(id);
    CHECK(a.kind == kind);
    CHECK(a.disk_path == path);
    CHECK(a.target == of);
    CHECK(a.reference == reference_text);
    CHECK(a.disk_changed == changed);
  };
  const std::int64_t changed = 1'000'000'000 * second;
  is("model", 1, model, "checkpoints/sub/m.safetensors", "sub/m.safetensors", changed);
  is("renamed", 1, model, "checkpoints/sub/m.safetensors", "sub/m.safetensors", changed);
  is("linked", 1, model, "checkpoints/sub/m.safetensors", "sub/m.safetensors", changed);
  is("grown", 1, model, "checkpoints/sub/m.safetensors", "sub/m.safetensors", 0);
  is("gone", 1, "/not/there", "", "gone", 0);
  is("made", 0, model, "", "made.png [output]", changed);
}

TEST_CASE("assets that cannot be served are left out and counted") {
  reference r;
  r.asset("good", hash_of('1'), "sub/a.png", in_input);
  r.asset("twin", hash_of('1'), "sub/a.png", in_input);
  r.asset("no-hash", "", "a", in_input);
  r.asset("odd-hash", hash_of('G'), "a", in_input);
  r.asset("odd-type", hash_of('2'), "a", in_input, "3", "[]", "image/png\nx: y");
  r.asset("nowhere", hash_of('3'), "a", "NULL, NULL");
  r.asset("relative", hash_of('4'), "a", "NULL, 'models/a'");
  const char* places[] = {R"({"filename": "../a", "type": "input"})", R"({"filename": "", "type": "input"})",
                          R"({"filename": "a", "subfolder": "../b", "type": "input"})",
                          R"({"filename": "a", "subfolder": "/b", "type": "input"})",
                          R"({"filename": "a", "type": "models"})"};
  for (int i = 0; i < 5; ++i)
    r.asset("place" + std::to_string(i), hash_of(static_cast<char>('a' + i)), "a",
            "'" + std::string(places[i]) + "', NULL");
  target t;
  CHECK(t.take(r) == "took over 0 jobs, 0 keys, 1 asset and the secret of " + r.f.path.string() +
                         "; 11 assets that cannot be served are left out");
  CHECK(t.assets().at(0).id == "good");
}

TEST_CASE("a folder that holds no state is refused") {
  target t;
  folder empty;
  const std::string file = (empty.path / "state.sqlite3").string();
  const auto refusal = [&] {
    try {
      t.take(empty.path.string());
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string("it was taken over");
  };
  const std::string hint = "; give the folder that was the --state-dir of comfy-api-proxy";
  CHECK(refusal() == "import_state: " + file + " is not there" + hint);
  std::ofstream(file) << std::string(5000, 'x');
  CHECK(refusal() == "import_state: " + file + " is no SQLite database" + hint);
  std::ofstream(file, std::ios::trunc).close();
  CHECK(refusal() == "import_state: " + file + " has no table meta" + hint + " 0.1.6");
  for (const char* table : {"meta", "jobs", "idempotency_keys", "assets"}) {
    reference r(table);
    CHECK(t.refusal(r) == "import_state: " + r.file() + " has no table " + table + hint + " 0.1.6");
  }
}

TEST_CASE("a row that makes no sense is refused, and with it all") {
  target t;
  const auto refused = [&](const char* table, const std::string& name, const std::string& what, auto make) {
    reference r;
    r.job(other);
    r.asset("good", hash_of('1'), "sub/a.png", in_input);
    make(r);
    CHECK(t.refusal(r) == row(r, table, name, what));
  };
  const std::string a_time = " is not a time such as 2031-02-03T04:05:06+00:00";
  for (const std::string& bad : {std::string("1"), std::string("00000000-0000-4000-8000-00000000000A"),
                                 "00000000-0000-4000-8000" + std::string(13, '0')})
    refused("jobs", bad, "its id is not a UUID in lower case", [&](reference& r) { r.job(bad); });
  for (const char* bad : {"", "2030-01-01", "2030-01-01T00:00:00", "2030-01-01T00:00:00Z", "2030-02-30T00:00:00+00:00",
                          "2030-01-01T24:00:00+00:00", "2030-01-01T00:00:00.5+00:00", "2030-01-01T00:00:00+01:00",
                          "1969-12-31T00:00:00+00:00", "1970-01-01T00:00:00+00:00"})
    refused("jobs", first, "created_at \"" + std::string(bad) + "\"" + a_time,
            [&](reference& r) { r.job(first, bad); });
  for (const char* bad : {"1000001", "'high'", "1.5"}) {
    const std::string shown = *bad == '\'' ? "high" : bad;
    refused("jobs", first, "priority \"" + shown + "\" is not an integer from -1000000 to 1000000",
            [&](reference& r) { r.job(first, t0_text, "NULL", bad); });
  }
  refused("jobs", first, "metadata is no text in UTF-8",
          [](reference& r) { r.job(first, t0_text, "CAST(x'ff' AS TEXT)"); });
  for (const char* bad : {"", "[]", "{"})
    refused("jobs", first, "workflow is not a JSON object",
            [&](reference& r) { r.job(first, t0_text, "NULL", "NULL", bad); });
  refused("idempotency_keys", "k", "claimed_at \"soon\"" + a_time, [](reference& r) { r.key("k", "soon"); });
  refused("idempotency_keys", "", "the key is empty", [](reference& r) { r.key("", t0_text); });
  refused("assets", "", "its id is empty", [](reference& r) { r.asset("", hash_of('2'), "a", in_input); });
  for (const char* bad : {"-1", "x"})
    refused("assets", "a", "size_bytes \"" + std::string(bad) + "\" is not a size",
            [&](reference& r) { r.asset("a", hash_of('2'), "a", in_input, bad); });
  for (const char* bad : {"{", "[]", R"({"filename": "a"})", R"({"filename": 1, "type": "input"})"})
    refused("assets", "a", "comfy_ref is not a JSON object with filename and type",
            [&](reference& r) { r.asset("a", hash_of('2'), "a", "'" + std::string(bad) + "', NULL"); });
  refused("assets", "a", "tags is not a JSON array",
          [](reference& r) { r.asset("a", hash_of('2'), "a", in_input, "3", "{}"); });
  for (const std::string& bad : {std::string("00"), std::string(64, 'g'), std::string(65, '0')})
    refused("meta", "asset_secret", "its value is not 64 hexadecimal digits",
            [&](reference& r) { r.run("UPDATE meta SET value = '" + bad + "'"); });
  reference without;
  without.run("DELETE FROM meta");
  CHECK(t.refusal(without) == "import_state: " + without.file() +
                                  " table meta has no row \"asset_secret\"; start comfy-api-proxy once with this "
                                  "--state-dir, and import again");
}

TEST_CASE("a state is taken over once, and only into a store that has nothing") {
  reference r;
  r.job(first);
  target t;
  t.take(r);
  CHECK(t.take(r) == r.f.path.string() + " was taken over already");
  const std::string used = "import_state " + r.f.path.string() + ": the store in " + t.f.path.string() +
                           " has jobs or assets already; use another --state-dir";
  r.job(other);  // the reference went on
  CHECK_THROWS_WITH(t.take(r), used);
  CHECK_FALSE(t.find(other));
  target with_asset;
  asset_record a;
  a.id = "a";
  writes(with_asset.session).put(a);
  CHECK_THROWS_WITH(with_asset.take(r), Catch::EndsWith("has jobs or assets already; use another --state-dir"));
}

TEST_CASE("what a kill has left in the log of the reference is read, and nothing of the reference's is changed") {
  reference r;
  r.run("PRAGMA wal_checkpoint(TRUNCATE)");
  r.run("PRAGMA wal_autocheckpoint = 0");
  r.job(first);
  folder killed;  // what is on the disk while it runs
  for (const char* part : {"state.sqlite3", "state.sqlite3-wal"})
    std::filesystem::copy(r.f.path / part, killed.path / part);
  const auto bytes = [&] {
    std::string all;
    for (const char* part : {"state.sqlite3", "state.sqlite3-wal"}) {
      std::ifstream in(killed.path / part, std::ios::binary);
      all.append(std::istreambuf_iterator<char>(in), {}).append("|");
    }
    return all;
  };
  const std::string before = bytes();
  target t;
  std::filesystem::create_directories(t.f.path / "importing" / "left");  // of one that was killed
  t.take(killed.path.string());
  CHECK(t.find(first));
  CHECK(bytes() == before);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(killed.path)) files += entry.is_regular_file();
  CHECK(files == 2);
}

TEST_CASE("a damaged file of the reference is refused") {
  folder damaged;
  const std::string file = (damaged.path / "state.sqlite3").string();
  {
    reference r;
    for (int i = 100; i < 400; ++i)
      r.job("00000000-0000-4000-8000-000000000" + std::to_string(i), t0_text, "hex(randomblob(300))");
    r.run("PRAGMA wal_checkpoint(TRUNCATE)");
    std::filesystem::copy(r.file(), file);
  }
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  for (std::streamoff at = 10 * 4096; at < 30 * 4096; at += 4096) {
    out.seekp(at);
    out.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  }
  out.close();
  target t;
  CHECK_THROWS_WITH(t.take(damaged.path.string()), Catch::StartsWith("import_state: " + file + " is damaged (") ||
                                                       Catch::StartsWith("import_state: " + file + " cannot be read"));
  CHECK(t.rows() == 0);
}
