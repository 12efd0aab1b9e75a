#include "plugins/job_store_sqlite/import.hpp"

#include <Poco/DigestEngine.h>
#include <Poco/Exception.h>
#include <Poco/SHA1Engine.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "plugins/comfy/json.hpp"
#include "plugins/comfy/uuid.hpp"
#include "plugins/job_store_sqlite/database.hpp"
#include "plugins/job_store_sqlite/import_asset.hpp"
#include "plugins/job_store_sqlite/import_source.hpp"
#include "plugins/job_store_sqlite/import_text.hpp"
#include "plugins/job_store_sqlite/tables.hpp"
#include "plugins/job_store_sqlite/transaction.hpp"

namespace job_store {
namespace {

using namespace Poco::Data::Keywords;
using Poco::Data::Session;
namespace json = comfy::json;

constexpr std::int64_t highest_priority = 1'000'000;
constexpr std::size_t secret_size = 32;  // bytes

std::optional<std::int64_t> read_integer(std::string_view text) noexcept {
  std::int64_t n = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(n) : std::nullopt;
}

std::int64_t time_of(const import_rows& row, std::size_t i, const char* name) {
  const std::optional<std::int64_t> time = read_time(row.text(i));
  if (!time)
    row.refuse(std::string(name) + " " + in_quotes(row.text(i)) + " is not a time such as 2031-02-03T04:05:06+00:00");
  return *time;
}

std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

void set_value(Session& store, std::string name, const std::string& text) {
  Poco::Data::BLOB bytes(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  store << "INSERT OR REPLACE INTO value (name, bytes) VALUES (?, ?)", use(name), use(bytes), now;
}

class importer {
 public:
  importer(Session& store, import_source& from, std::int64_t present)
      : store_(store), from_(from), present_(present), writes_(store) {}

  // True: this very state.
  bool was_done() {
    Poco::Data::BLOB bytes;
    store_ << "SELECT bytes FROM value WHERE name = 'imported'", into(bytes), now;
    return mark() == std::string(reinterpret_cast<const char*>(bytes.rawContent()), bytes.size());
  }
  bool store_is_used() {
    int n = 0;
    store_ << "SELECT EXISTS (SELECT 1 FROM job) OR EXISTS (SELECT 1 FROM asset)", into(n), now;
    return n != 0;
  }
  std::string take_all() {
    transaction t(store_);
    take_jobs();
    take_keys();
    take_assets();
    set_value(store_, "secret", secret());
    set_value(store_, "imported", mark());
    t.commit();
    return "took over " + counted(jobs_, "job") + ", " + counted(keys_, "key") + ", " + counted(assets_, "asset") +
           " and the secret";
  }
  std::size_t left_out() const noexcept { return left_out_; }

 private:
  void take_jobs();
  void read_graph(const import_rows&, const std::string& text, job_record&) const;
  void take_keys();
  void take_assets();
  asset_record read_asset(const import_rows&) const;
  std::string secret();
  std::string mark();

  Session& store_;
  import_source& from_;
  const std::int64_t present_;
  writes writes_;
  std::size_t jobs_ = 0, keys_ = 0, assets_ = 0, left_out_ = 0;
};

// ComfyUI took each of them, or the reference would not have it; how it ended is found out from ComfyUI.
void importer::take_jobs() {
  std::int64_t last = 0;
  for (import_rows row(from_, "jobs", "id created_at metadata priority workflow", "ORDER BY created_at, rowid");
       row.next(); ++jobs_) {
    job_record j;
    const std::optional<job_id> id = comfy::parse_uuid(row.text(0));
    if (!id) row.refuse("its id is not a UUID in lower case");
    j.id = *id;
    j.phase = STORE_ACTIVE;
    j.created = last = std::max(time_of(row, 1, "created_at"), last + 1);  // no two jobs share one
    if (!row[2].isNull()) j.metadata = row[2].value();
    if (!row[3].isNull()) {
      const std::optional<std::int64_t> n = read_integer(row[3].value());
      if (!n || *n < -highest_priority || *n > highest_priority)
        row.refuse("priority " + in_quotes(row[3].value()) + " is not an integer from -1000000 to 1000000");
      j.priority = static_cast<std::int32_t>(*n);
    }
    read_graph(row, row.text(4), j);
    writes_.submit(j, {});
  }
}

// Python may have written numbers that JSON does not have; what is answered with is JSON.
void importer::read_graph(const import_rows& row, const std::string& text, job_record& j) const {
  const json::document document(text, {}, json::dialect::tolerant);
  if (!document.root().is_object()) row.refuse("workflow is not a JSON object");
  j.nodes = static_cast<std::uint32_t>(document.root().size());
  if (json::document(text).ok())
    j.graph = text;
  else
    json::append(j.graph, document.root());
}

// The reference does not write down which job a key was for.
void importer::take_keys() {
  for (import_rows row(from_, "idempotency_keys", "key claimed_at", ""); row.next();) {
    std::int64_t claimed = time_of(row, 1, "claimed_at");
    if (row.text(0).empty()) row.refuse("the key is empty");
    if (claimed <= present_ - key_lifetime) continue;
    Poco::Data::BLOB name(reinterpret_cast<const unsigned char*>(row.text(0).data()), row.text(0).size());
    store_ << "INSERT OR REPLACE INTO key (name, claimed, job) VALUES (?, ?, x'')", use(name), use(claimed), now;
    ++keys_;
  }
}

void importer::take_assets() {
  std::set<std::string> seen;
  for (import_rows row(from_, "assets", "id hash size_bytes content_type file_path created_at comfy_ref disk_path tags",
                       "ORDER BY created_at, rowid");
       row.next();) {
    asset_record a = read_asset(row);
    if (!complete(a) || !seen.insert(sameness_of(a)).second) {
      ++left_out_;
      continue;
    }
    writes_.put(a);
    ++assets_;
  }
}

asset_record importer::read_asset(const import_rows& row) const {
  asset_record a;
  a.id = row.text(0);
  if (a.id.empty()) row.refuse("its id is empty");
  a.hash = row.text(1);
  const std::optional<std::int64_t> size = read_integer(row.text(2));
  if (!size || *size < 0) row.refuse("size_bytes " + in_quotes(row.text(2)) + " is not a size");
  a.size = static_cast<std::uint64_t>(*size);
  a.content_type = row.text(3);
  if (!row[4].isNull()) a.file_path = row[4].value();
  a.created = time_of(row, 5, "created_at");
  if (!row[6].isNull() && !row[6].value().empty()) {
    const json::document place(row[6].value(), {}, json::dialect::tolerant);
    const json::value root = place.root();
    if (!root["filename"].is_string() || !root["type"].is_string())
      row.refuse("comfy_ref is not a JSON object with filename and type");
    a.name = root["filename"].text();
    a.subfolder = root["subfolder"].text();
    a.folder = root["type"].text();
  }
  if (!row[7].isNull()) a.disk_path = row[7].value();
  const std::string& written = row.text(8);
  const json::document tags(written.empty() ? std::string_view("[]") : std::string_view(written), {},
                            json::dialect::tolerant);
  if (!tags.root().is_array()) row.refuse("tags is not a JSON array");
  json::append(a.tags, tags.root());
  return a;
}

std::string importer::secret() {
  import_rows row(from_, "meta", "key value", "WHERE key = 'asset_secret'");
  if (!row.next())
    from_.refuse(
        "table meta has no row \"asset_secret\"; start comfy-api-proxy once with this --state-dir, and import again");
  std::optional<std::string> bytes = read_hex(row.text(1));
  if (!bytes || bytes->size() != secret_size) row.refuse("its value is not 64 hexadecimal digits");
  return *bytes;
}

// What tells one state from another, and from what it was before: its secret, and what it held.
std::string importer::mark() {
  Poco::SHA1Engine digest;
  digest.update(secret());
  for (const char* table : {"jobs", "assets"}) {
    import_rows row(from_, table, "count(*) max(created_at)", "");
    row.next();
    digest.update("/" + row.text(0) + "/" + (row[1].isNull() ? std::string() : row[1].value()));
  }
  return Poco::DigestEngine::digestToHex(digest.digest());
}

}  // namespace

std::string import_state(Session& store, const std::string& store_folder, const std::string& folder,
                         std::int64_t present) {
  import_source from(folder, store_folder);
  try {
    importer i(store, from, present);
    if (i.was_done()) return folder + " was taken over already";
    if (i.store_is_used())
      throw std::runtime_error("import_state " + folder + ": the store in " + store_folder +
                               " has jobs or assets already; use another --state-dir");
    std::string said = i.take_all() + " of " + folder;
    if (const std::size_t n = i.left_out())
      said += "; " + counted(n, "asset") + " that cannot be served " + (n == 1 ? "is" : "are") + " left out";
    return said;
  } catch (const Poco::Exception& e) {
    throw std::runtime_error(file_in(store_folder) + ": cannot be written: " + e.displayText());
  }
}

}  // namespace job_store
