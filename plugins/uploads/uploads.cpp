#include "plugins/uploads/uploads.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "plugins/uploads/hmac.hpp"
#include "plugins/uploads/request_text.hpp"
#include "plugins/uploads/secret.hpp"

namespace portico::uploads {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;

std::filesystem::path as_path(std::string_view utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}
std::string as_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

// Beside the models if they are here, so that putting one in its place is a link and no copy.
std::string default_spool_folder(const std::string& base_dir) {
  std::error_code ignored;
  const std::filesystem::path models = as_path(base_dir) / "models";
  if (!base_dir.empty() && std::filesystem::is_directory(models, ignored)) return as_text(models / ".portico");
  return as_text(std::filesystem::temp_directory_path());
}

}  // namespace

uploads::uploads(host h)
    : plugin(h),
      upstream_(h.text("upstream")),
      max_upload_(static_cast<std::uint64_t>(h.integer("max_upload_mb")) * mebibyte),
      base_dir_(h.text("base_dir")),
      archive_(server()) {}

void uploads::start() {
  const std::string secret_file(server().text("secret_file"));
  archive_.connect();
  std::string secret = secret_file.empty() ? random_bytes(secret_size) : secret_in(secret_file);
  if (archive_ && secret_file.empty()) secret = archive_.secret(std::move(secret));
  outputs_.emplace(std::move(secret));
  if (archive_) archive_.each([this](asset a) { index_.add(std::move(a), now()); });
  placement_ = service<comfy_placement>(server(), COMFY_PLACEMENT);
  if (base_dir_.empty() && placement_) base_dir_ = view(placement_.table().base_dir(placement_.self()));
  if (!base_dir_.empty() && !std::filesystem::is_directory(as_path(base_dir_)))
    throw std::runtime_error("base_dir " + base_dir_ +
                             ": there is no such folder; set it to ComfyUI's own, the one that holds input, "
                             "output and models");
  const std::string spool(server().text("spool"));
  spools_.emplace(spool.empty() ? default_spool_folder(base_dir_) : spool);

  publish(server(), COMFY_ASSETS, table, this);
  route("GET", "/api/v2/assets/{id}", &uploads::show, 0);
  route("GET", "/api/v2/assets/{id}/content", &uploads::content, 0);
  route("HEAD", "/api/v2/assets/by-hash/{hash}", &uploads::by_hash, 0);
  route("DELETE", "/api/v2/assets/{id}", &uploads::remove, 0);
  route("POST", "/api/v2/assets", &uploads::create, static_cast<int64_t>(max_upload_ + mebibyte));
  route("POST", "/api/v2/assets/from-hash", &uploads::from_hash, static_cast<int64_t>(max_json));
  route("POST", "/api/v2/assets/from-path", &uploads::from_path, static_cast<int64_t>(max_json));
  spawn(sweep_for_ever());
}

task<> uploads::sweep_for_ever() {
  for (;;) {
    co_await sleep(server(), std::chrono::minutes(1));
    index_.sweep(now());
  }
}

int32_t PORTICO_CALL uploads::mint(void* self, const comfy_output_ref* what, char* out, size_t capacity,
                                   size_t* size) noexcept {
  return detail::guard(
      [&] {
        const auto& me = *static_cast<const uploads*>(self);
        const std::string id = me.outputs_->mint(output{
            std::string(view(what->job_id)),
            {std::string(view(what->filename)), std::string(view(what->subfolder)), std::string(view(what->type))}});
        *size = id.size();
        if (id.size() > capacity) throw error(PORTICO_E_LIMIT);
        id.copy(out, id.size());
      },
      [](int32_t, const char*) {});
}

int32_t PORTICO_CALL uploads::resolve(void* self, comfy_reference* references, size_t count, portico_done,
                                      void*) noexcept {
  const int32_t rc = detail::guard(
      [&] {
        for (comfy_reference* r = references; r != references + count; ++r) {
          const auto text = static_cast<uploads*>(self)->text_for(view(r->id), view(r->hash));
          r->found = text && text->size() <= sizeof r->text;
          r->text_size = r->found ? text->copy(r->text, sizeof r->text) : 0;
        }
      },
      [](int32_t, const char*) {});
  return rc == PORTICO_OK ? PORTICO_READY : rc;
}

std::optional<std::string> uploads::text_for(std::string_view id, std::string_view hash) {
  const instant at = now();
  if (!id.empty()) {
    if (const asset_ptr stored = index_.find(id, at)) return stored->reference;
    if (const std::optional<output> out = outputs_->open(id); out && is_contained(out->file))
      return reference_text(out->file);
  }
  if (!hash.empty())
    if (const asset_ptr stored = index_.by_hash(hash, at)) return stored->reference;
  return std::nullopt;
}

}  // namespace portico::uploads
