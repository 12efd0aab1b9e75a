// plugins/uploads/uploads.hpp - the plugin: the routes under /api/v2/assets, and the service comfy.assets/1.
//
// Read asset.hpp and asset_index.hpp first: what is stored.  output_id.hpp: what is not stored.  read_routes.cpp and
// write_routes.cpp: what is done with both.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <portico/sdk.hpp>

#include "plugins/comfy/assets.h"
#include "plugins/comfy/placement.h"
#include "plugins/uploads/asset_archive.hpp"
#include "plugins/uploads/asset_index.hpp"
#include "plugins/uploads/disk_file.hpp"
#include "plugins/uploads/form.hpp"
#include "plugins/uploads/output_id.hpp"
#include "plugins/uploads/received_file.hpp"
#include "plugins/uploads/upload_path.hpp"

namespace portico::uploads {

class uploads final : public plugin {
 public:
  static constexpr const char* provides[] = {COMFY_ASSETS, nullptr};
  static constexpr const char* uses[] = {COMFY_PLACEMENT, PORTICO_STORE, nullptr};
  static constexpr const char* routes[] = {"GET /api/v2/assets/{id}",
                                           "GET /api/v2/assets/{id}/content",
                                           "HEAD /api/v2/assets/by-hash/{hash}",
                                           "DELETE /api/v2/assets/{id}",
                                           "POST /api/v2/assets",
                                           "POST /api/v2/assets/from-hash",
                                           "POST /api/v2/assets/from-path",
                                           nullptr};

  explicit uploads(host);
  void start() override;

 private:
  // Each as the contract's section 1.8 to 1.14 says.
  task<response> show(request&);       // GET /api/v2/assets/{id}
  task<response> content(request&);    // GET /api/v2/assets/{id}/content
  task<response> by_hash(request&);    // HEAD /api/v2/assets/by-hash/{hash}
  task<response> remove(request&);     // DELETE /api/v2/assets/{id}
  task<response> create(request&);     // POST /api/v2/assets
  task<response> from_hash(request&);  // POST /api/v2/assets/from-hash
  task<response> from_path(request&);  // POST /api/v2/assets/from-path

  // What an upload says beside its bytes, checked.
  struct wish {
    upload_path path;
    std::string shown_path, content_type;
    std::vector<std::string> tags;
    instant lifetime = 0;  // 0: for ever
  };
  static wish read_wish(const upload_form&);
  task<> receive(request&, upload_form&, received_file&);
  task<asset> store_input(request&, const wish&, received_file&);
  task<asset> store_model(request&, const wish&, received_file&);
  task<std::string> hash_of(request&, const disk_file&);
  task<> check_model(request&, const disk_file&, std::string_view path);

  // An asset whose bytes are still there; one whose bytes are found missing is marked and passed over.
  task<bool> is_there(context, asset_ptr);
  task<asset_ptr> live_same(context, std::string hash, asset_kind, std::string target);
  task<asset_ptr> live_by_hash(context, std::string hash);
  // Adds the asset, unless another of this content came first, and answers with the one that is kept.
  task<response> commit(request&, asset);
  task<asset_ptr> prolong(asset_ptr, instant expires);
  response answer(const request&, const asset&, created_new) const;

  task<> sweep_for_ever();

  // comfy.assets/1
  static int32_t PORTICO_CALL mint(void*, const comfy_output_ref*, char*, size_t, size_t*) noexcept;
  static int32_t PORTICO_CALL resolve(void*, comfy_reference*, size_t, portico_done, void*) noexcept;
  // The text that takes the place of a reference; nothing: it is unknown.
  std::optional<std::string> text_for(std::string_view id, std::string_view hash);

  static constexpr comfy_assets table = {sizeof(comfy_assets), 0, &uploads::mint, &uploads::resolve};

  std::string_view upstream_;
  std::uint64_t max_upload_;            // bytes
  std::string base_dir_;                // empty: none is configured
  std::optional<output_ids> outputs_;   // from start() on
  std::optional<spool_folder> spools_;  // from start() on
  service<comfy_placement> placement_;
  asset_archive archive_;
  asset_index index_;
};

}  // namespace portico::uploads
