// plugins/model_upload/model_upload.hpp - the plugin: the service comfy.placement/1.
#pragma once
#include <optional>
#include <portico/sdk.hpp>

#include "plugins/comfy/placement.h"
#include "plugins/model_upload/placement.hpp"

namespace portico::model_upload {

class model_upload final : public plugin {
 public:
  static constexpr const char* provides[] = {COMFY_PLACEMENT, nullptr};
  using plugin::plugin;
  void start() override;

 private:
  static portico_str PORTICO_CALL base_dir(void*) noexcept;
  static int32_t PORTICO_CALL check(void*, const comfy_candidate*, comfy_placement_result*, portico_done,
                                    void*) noexcept;
  static int32_t PORTICO_CALL place(void*, const comfy_candidate*, comfy_placement_result*, portico_done,
                                    void*) noexcept;
  task<> run(const comfy_candidate*, comfy_placement_result*, bool place_it);

  static constexpr comfy_placement table = {sizeof(comfy_placement), 0, &model_upload::base_dir, &model_upload::check,
                                            &model_upload::place};
  std::optional<model_folder> folder_;  // from start() on
};

// What check and place do, on a pool thread: the name, the format, and with place_it the placing.
outcome examine(const model_folder&, const candidate&, bool place_it);

}  // namespace portico::model_upload
