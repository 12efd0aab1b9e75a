// What is read of assets: metadata, bytes, whether a content is known; and deleting one.
#include "plugins/comfy/errors.hpp"
#include "plugins/uploads/disk_content.hpp"
#include "plugins/uploads/on_pool.hpp"
#include "plugins/uploads/uploads.hpp"
#include "plugins/uploads/view_relay.hpp"

namespace portico::uploads {
namespace {

http_error unknown_asset() {
  return http_error(404, comfy::code::not_found, "there is no asset with this id: it is unknown, deleted or expired");
}

}  // namespace

response uploads::answer(const request& req, const asset& a, created_new is_new) const {
  return response::json(is_new == created_new::yes ? 201 : 200, to_json(a, req.base_url(), now(), is_new));
}

task<response> uploads::show(request& req) {
  const std::string_view id = req.param("id");
  const instant at = now();
  if (const asset_ptr stored = index_.find(id, at)) co_return answer(req, *stored, created_new::unsaid);
  if (const std::optional<output> out = outputs_->open(id))
    co_return response::json(200, to_json(*out, id, req.base_url(), at));
  throw unknown_asset();
}

task<response> uploads::content(request& req) {
  const std::string_view id = req.param("id");
  expected_file file;
  const asset_ptr stored = index_.find(id, now());
  if (stored) {
    if (!stored->bytes->disk_path.empty()) co_return co_await serve_from_disk(req, stored);
    file = expected_file{stored->bytes->file, stored->content_type, stored->bytes->size};
  } else if (std::optional<output> out = outputs_->open(id)) {
    file.file = std::move(out->file);
  } else {
    throw unknown_asset();
  }
  bool gone = false;
  try {
    co_return co_await relay_view(req, upstream_, std::move(file), &gone);
  } catch (...) {
    if (gone && stored) stored->bytes->lost = true;
    throw;
  }
}

task<response> uploads::by_hash(request& req) {
  const asset_ptr found = co_await live_by_hash(req, std::string(req.param("hash")));
  co_return response(found ? 200 : 404);
}

task<response> uploads::remove(request& req) {
  const std::string id(req.param("id"));
  if (!index_.remove(id, now())) throw unknown_asset();
  if (archive_) co_await archive_.remove(id);
  co_return response(204);
}

task<asset_ptr> uploads::live_same(context where, std::string hash, asset_kind kind, std::string target) {
  for (;;) {
    asset_ptr found = index_.same(hash, kind, target, now());
    if (!found || co_await is_there(where, found)) co_return found;
  }
}

task<asset_ptr> uploads::live_by_hash(context where, std::string hash) {
  for (;;) {
    asset_ptr found = index_.by_hash(hash, now());
    if (!found || co_await is_there(where, found)) co_return found;
  }
}

// A client asks whether a content is known and at once uses it, so what was just seen is not looked for again.
task<bool> uploads::is_there(context where, asset_ptr a) {
  constexpr instant still_fresh = 5 * second;
  blob& bytes = *a->bytes;
  if (now() - bytes.seen.load(std::memory_order_relaxed) < still_fresh) co_return true;
  bool there = false;
  if (bytes.disk_path.empty()) {
    there = co_await is_upstream(where, upstream_, bytes.file, bytes.size);
  } else {
    auto look = [&] { there = is_unchanged_on_disk(bytes); };
    co_await on_pool(where, look);
  }
  if (there)
    bytes.seen = now();
  else
    bytes.lost = true;
  co_return there;
}

}  // namespace portico::uploads
