// How assets come into being: by upload, or as another word for a content that is known.
#include <memory>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"
#include "plugins/uploads/comfy_upload.hpp"
#include "plugins/uploads/header_text.hpp"
#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/on_pool.hpp"
#include "plugins/uploads/placing.hpp"
#include "plugins/uploads/request_text.hpp"
#include "plugins/uploads/served_as.hpp"
#include "plugins/uploads/uploads.hpp"

namespace portico::uploads {
namespace {

constexpr std::size_t longest_tag = 1024;  // bytes

std::string target_of(const upload_path& path) {
  return path.kind == asset_kind::model ? path.folder + "/" + path.name : std::string();
}

}  // namespace

uploads::wish uploads::read_wish(const upload_form& form) {
  if (!form.file_path()) refuse("the form has no field named file_path");
  wish w;
  w.shown_path = trimmed(*form.file_path());
  w.path = read_upload_path(w.shown_path);
  const std::string& type = form.content_type() ? *form.content_type() : form.file_content_type();
  w.content_type = trimmed(type).empty() ? "application/octet-stream" : std::string(trimmed(type));
  if (!is_content_type(w.content_type))
    refuse("content_type must be one line of the form type/subtype, at most 255 bytes");
  if (form.expires_in() && !trimmed(*form.expires_in()).empty())
    w.lifetime = read_lifetime(trimmed(*form.expires_in()));
  for (const std::string& tag : form.tags())
    if (tag.size() > longest_tag) refuse("a tag is longer than 1,024 bytes");
  w.tags = form.tags();
  return w;
}

// POST /api/v2/assets.  Nothing is kept of a body that does not reach its end, its closing boundary, and its hash.
task<response> uploads::create(request& req) {
  upload_form form(req.header("content-type"), max_upload_);
  received_file file(*spools_);
  co_await receive(req, form, file);
  const wish w = read_wish(form);
  const std::string_view expected = form.expected_hash() ? trimmed(*form.expected_hash()) : std::string_view();
  if (!expected.empty() && !same_ignoring_case(expected, file.hash()))
    throw http_error(409, comfy::code::hash_mismatch, "the file's hash is " + file.hash() + ", not the expected one");

  const auto expires = [&] { return w.lifetime ? now() + w.lifetime : 0; };
  if (const asset_ptr known = co_await live_same(req, file.hash(), w.path.kind, target_of(w.path)))
    if (const asset_ptr kept = co_await prolong(known, expires())) co_return answer(req, *kept, created_new::no);

  asset made;
  if (w.path.kind == asset_kind::input)
    made = co_await store_input(req, w, file);
  else
    made = co_await store_model(req, w, file);
  made.id = random_uuid();
  made.kind = w.path.kind;
  made.content_type = w.content_type;
  made.target = target_of(w.path);
  made.tags = w.tags;
  made.created = now();
  made.expires = expires();
  co_return co_await commit(req, std::move(made));
}

// What is in the index is written down already, so nobody is given an asset that a restart would lose.
task<response> uploads::commit(request& req, asset made) {
  if (archive_) co_await archive_.put(std::make_shared<const asset>(made));
  const std::string id = made.id;
  const asset_index::added added = index_.add(std::move(made), now());
  if (archive_ && !added.is_new) co_await archive_.remove(id);
  co_return answer(req, *added.stored, added.is_new ? created_new::yes : created_new::no);
}

task<asset_ptr> uploads::prolong(asset_ptr known, instant expires) {
  const asset_ptr kept = index_.prolong(known->id, expires, now());
  if (archive_ && kept && kept != known) co_await archive_.put(kept);
  co_return kept;
}

task<> uploads::receive(request& req, upload_form& form, received_file& file) {
  constexpr std::size_t at_once = 1024 * 1024;
  if (req.content_length() > static_cast<int64_t>(received_file::piece)) {
    std::uint64_t free = 0;
    auto look = [&] { free = spools_->free_bytes(); };
    co_await on_pool(req, look);
    if (static_cast<std::uint64_t>(req.content_length()) > free)
      throw http_error(507, "insufficient_storage", "there is not enough space left on the disk for this upload");
  }
  for (;;) {
    const std::string_view chunk = co_await req.read(at_once);
    if (chunk.empty()) break;
    form.feed(chunk);
    for (std::string_view bytes = form.next(); !bytes.empty(); bytes = form.next())
      if (!file.keep(bytes)) co_await file.append(req, bytes);
  }
  form.finish();
  co_await file.finish(req);
}

task<asset> uploads::store_input(request& req, const wish& w, received_file& file) {
  file_ref wanted;
  wanted.name = w.path.name;
  wanted.subfolder = w.path.folder;
  wanted.type = "input";
  asset made;
  made.bytes = std::make_shared<blob>();
  made.bytes->file = co_await send_to_upstream(req, upstream_, file, std::move(wanted), w.content_type);
  made.bytes->hash = file.hash();
  made.bytes->size = file.size();
  made.bytes->seen = now();
  made.reference = reference_text(made.bytes->file);
  made.file_path = w.shown_path;
  co_return made;
}

task<asset> uploads::store_model(request& req, const wish& w, received_file& file) {
  if (!placement_) throw no_placement();
  if (view(placement_.table().base_dir(placement_.self())).empty()) throw no_placement();
  co_await file.need_file(req);
  placing at;
  at.candidate.file = file.file()->handle();
  at.candidate.file_name = to_abi(file.file()->name());
  at.candidate.size = file.size();
  at.candidate.root = to_abi(w.path.folder);
  at.candidate.path = to_abi(w.path.name);
  co_await place(req, placement_, at);
  if (at.result.moved) file.file()->release();
  at.throw_if_refused();
  asset made;
  made.bytes = std::make_shared<blob>();
  made.bytes->hash = file.hash();
  made.bytes->size = file.size();
  made.bytes->disk_path = at.result.disk_path;
  made.bytes->disk_changed = at.result.changed;
  made.bytes->seen = now();
  made.reference = w.path.name;
  made.file_path = w.path.name;
  co_return made;
}

// POST /api/v2/assets/from-hash
task<response> uploads::from_hash(request& req) {
  const std::string text = co_await req.body(max_json);
  const json_body body(text);
  const std::string hash = body.required_text("hash");
  const instant lifetime = body.lifetime();
  while (const asset_ptr known = co_await live_by_hash(req, hash))
    if (const asset_ptr kept = co_await prolong(known, lifetime ? now() + lifetime : 0))
      co_return answer(req, *kept, created_new::no);
  throw http_error(404, comfy::code::blob_not_found, "no content with this hash is known; upload it");
}

}  // namespace portico::uploads
