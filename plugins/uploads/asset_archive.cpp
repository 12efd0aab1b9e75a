#include "plugins/uploads/asset_archive.hpp"

#include <map>
#include <memory>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"

namespace portico::uploads {
namespace {

std::string joined(const std::vector<std::string>& tags) {
  std::string out = "[";
  for (const std::string& tag : tags) {
    if (out.size() > 1) out += ',';
    append_json_string(out, tag);
  }
  return out += ']';
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> tags;
  const comfy::json::document document(text);
  if (document.root().is_array())
    for (const comfy::json::value tag : document.root().elements()) tags.push_back(tag.text());
  return tags;
}

// A stored asset, and the blobs that were seen so far, by where their bytes are.
class reader {
 public:
  explicit reader(const std::function<void(asset)>& f) : f_(f) {}
  static void PORTICO_CALL see(void* self, const store_asset* s) { static_cast<reader*>(self)->see(*s); }

 private:
  void see(const store_asset& s) {
    asset a;
    a.id = view(s.id);
    a.kind = s.kind == 0 ? asset_kind::input : asset_kind::model;
    a.content_type = view(s.content_type);
    a.file_path = view(s.file_path);
    a.reference = view(s.reference);
    a.target = view(s.target);
    a.tags = split(view(s.tags));
    a.created = s.created;
    a.expires = s.expires;
    a.bytes = blob_of(s);
    f_(std::move(a));
  }
  std::shared_ptr<blob> blob_of(const store_asset& s) {
    std::string place;
    for (const portico_str part : {s.hash, s.disk_path, s.folder, s.subfolder, s.name})
      place.append(view(part)).append(1, '\0');
    std::shared_ptr<blob>& b = blobs_[place];
    if (b) return b;
    b = std::make_shared<blob>();
    b->hash = view(s.hash);
    b->size = s.size;
    b->file = {std::string(view(s.name)), std::string(view(s.subfolder)), std::string(view(s.folder))};
    b->disk_path = view(s.disk_path);
    b->disk_changed = s.disk_changed;
    return b;
  }
  const std::function<void(asset)>& f_;
  std::map<std::string, std::shared_ptr<blob>> blobs_;
};

// Views into it, but for the tags.
store_asset as_stored(const asset& a, const std::string& tags) {
  store_asset s{};
  s.struct_size = sizeof s;
  s.kind = a.kind == asset_kind::input ? 0 : 1;
  s.id = to_abi(a.id);
  s.hash = to_abi(a.bytes->hash);
  s.content_type = to_abi(a.content_type);
  s.file_path = to_abi(a.file_path);
  s.reference = to_abi(a.reference);
  s.target = to_abi(a.target);
  s.tags = to_abi(tags);
  s.name = to_abi(a.bytes->file.name);
  s.subfolder = to_abi(a.bytes->file.subfolder);
  s.folder = to_abi(a.bytes->file.type);
  s.disk_path = to_abi(a.bytes->disk_path);
  s.size = a.bytes->size;
  s.disk_changed = a.bytes->disk_changed;
  s.created = a.created;
  s.expires = a.expires;
  return s;
}

[[noreturn]] void throw_unwritten(const error& e) {
  if (e.code() == PORTICO_E_LIMIT)
    throw http_error(507, comfy::code::insufficient_storage, "there is no space left to write the asset down");
  throw http_error(500, "internal", "the asset could not be written down");
}

}  // namespace

std::string asset_archive::secret(std::string initial) const {
  check(store_.table().value(store_.self(), to_abi("secret"), initial.data(), initial.size()));
  return initial;
}

void asset_archive::each(const std::function<void(asset)>& f) const {
  reader r(f);
  check(store_.table().all_assets(store_.self(), &reader::see, &r));
}

task<> asset_archive::put(asset_ptr a) const {
  const std::string tags = joined(a->tags);
  const store_asset s = as_stored(*a, tags);
  try {
    co_await ask(
        host_, [&](portico_done done, void* user) { return store_.table().put_asset(store_.self(), &s, done, user); });
  } catch (const error& e) {
    throw_unwritten(e);
  }
}

task<> asset_archive::remove(std::string id) const {
  try {
    co_await ask(host_, [&](portico_done done, void* user) {
      return store_.table().remove_asset(store_.self(), to_abi(id), done, user);
    });
  } catch (const error& e) {
    throw_unwritten(e);
  }
}

}  // namespace portico::uploads
