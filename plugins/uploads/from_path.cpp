// POST /api/v2/assets/from-path: a file that lies in ComfyUI's folders already becomes an asset; its bytes are not
// copied.
#include "plugins/comfy/content_type.hpp"
#include "plugins/comfy/errors.hpp"
#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/on_pool.hpp"
#include "plugins/uploads/placing.hpp"
#include "plugins/uploads/request_text.hpp"
#include "plugins/uploads/served_as.hpp"
#include "plugins/uploads/uploads.hpp"

namespace portico::uploads {
namespace {

struct host_file {
  location place{location::outcome::missing, {}, {}};
  std::optional<disk_file> file;
};

// May block.
void find(const std::string& base_dir, const std::string& path, host_file& out) {
  out.place = locate(base_dir, path);
  if (out.place.what != location::outcome::found) return;
  if (std::optional<disk_file> opened = disk_file::open(out.place.path))
    out.file.emplace(std::move(*opened));
  else
    out.place.what = location::outcome::missing;
}

// "input/a/b.png" as folder "input" and rest "a/b.png"; without a folder the rest is empty.
std::pair<std::string, std::string> cut(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

void name_place(asset& made, const std::string& folder, const std::string& rest) {
  if (folder == "models") {
    made.kind = asset_kind::model;
    made.target = rest;
    made.reference = cut(rest).second;
    return;
  }
  const std::size_t slash = rest.rfind('/');
  file_ref& file = made.bytes->file;
  file.type = folder;
  file.subfolder = slash == std::string::npos ? std::string() : rest.substr(0, slash);
  file.name = slash == std::string::npos ? rest : rest.substr(slash + 1);
  made.reference = reference_text(file);
}

}  // namespace

task<response> uploads::from_path(request& req) {
  if (base_dir_.empty())
    refuse("this portico is not co-located with ComfyUI: base_dir is not set, so no path can be taken");
  const std::string text = co_await req.body(max_json);
  const json_body body(text);
  const std::string path = body.required_text("path");
  const std::optional<std::string> shown = body.text("file_path"), type = body.text("content_type");
  if (type && !is_content_type(*type))
    refuse("content_type must be one line of the form type/subtype, at most 255 bytes");

  if (shown && shown->size() > longest_path) refuse("file_path is longer than 1,024 bytes");

  host_file found;
  auto look = [&] { find(base_dir_, path, found); };
  co_await on_pool(req, look);
  if (found.place.what == location::outcome::outside) refuse("path must be an absolute path below ComfyUI's folder");
  if (!found.file) throw http_error(404, comfy::code::blob_not_found, "there is no regular file at this path");
  const auto [folder, rest] = cut(found.place.relative);
  const bool is_model = folder == "models" && is_model_folder(cut(rest).first) && !cut(rest).second.empty();
  if (rest.empty() || (!is_model && folder != "input" && folder != "output" && folder != "temp"))
    refuse("path must lie below input, output, temp, or one of the model folders such as models/checkpoints");
  if (found.file->size() > max_upload_)
    throw http_error(413, comfy::code::payload_too_large,
                     "the file is larger than the " + std::to_string(max_upload_) + " bytes that are allowed");

  asset made;
  made.bytes = std::make_shared<blob>();
  name_place(made, folder, rest);
  if (is_model) co_await check_model(req, *found.file, rest);
  made.bytes->hash = co_await hash_of(req, *found.file);
  made.bytes->size = found.file->size();
  made.bytes->disk_path = found.place.path;
  made.bytes->disk_changed = found.file->changed();
  made.bytes->seen = now();
  if (const asset_ptr known = co_await live_same(req, made.bytes->hash, made.kind, made.target))
    co_return answer(req, *known, created_new::no);
  made.id = random_uuid();
  made.content_type = type ? *type : std::string(comfy::content_type_of(rest));
  made.file_path = shown ? *shown : is_model ? made.reference : found.place.relative;
  made.created = now();
  co_return co_await commit(req, std::move(made));
}

task<> uploads::check_model(request& req, const disk_file& file, std::string_view path) {
  if (!placement_) throw no_placement();
  const std::size_t slash = path.find('/');
  placing at;
  at.candidate.file = file.handle();
  at.candidate.size = file.size();
  at.candidate.root = to_abi(path.substr(0, slash));
  at.candidate.path = to_abi(path.substr(slash + 1));
  co_await check_model_file(req, placement_, at);
  at.throw_if_refused();
}

// A few milliseconds of pool at a time, so that others get their turn and a client that goes ends it.
task<std::string> uploads::hash_of(request& req, const disk_file& file) {
  constexpr std::size_t turn = 4 * 1024 * 1024, piece = 256 * 1024;
  content_hash hash;
  std::uint64_t offset = 0;
  std::string buffer;
  auto go_on = [&] {
    buffer.resize(piece);
    for (const std::uint64_t end = offset + turn; offset < end;) {
      const std::size_t n = file.read(offset, buffer.data(), buffer.size());
      hash.update(std::string_view(buffer).substr(0, n));
      offset += n;
      if (n == 0) break;
    }
  };
  while (offset < file.size()) {
    const std::uint64_t before = offset;
    co_await on_pool(req, go_on);
    if (offset == before) break;
  }
  if (offset != file.size()) refuse("the file was changed while it was read");
  co_return hash.text();
}

}  // namespace portico::uploads
