// plugins/jobs/asset_ids.hpp - the ids of outputs, and what references stand for: comfy.assets/1, or what is left
// without it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <portico/service.hpp>
#include <portico/task.hpp>

#include "plugins/comfy/assets.h"
#include "plugins/jobs/keyed_hash.hpp"
#include "plugins/jobs/outputs.hpp"
#include "plugins/jobs/submission.hpp"

namespace jobs {

// Without the service, no reference is known, and outputs have ids that are stable and opaque, but that no route
// serves.
class asset_ids {
 public:
  explicit asset_ids(const portico::host& h) noexcept : host_(h) {}
  // In start().
  void connect() { service_ = portico::service<comfy_assets>(host_, COMFY_ASSETS); }

  // Any thread.  The same output has the same id always.
  std::string mint(std::string_view job_id, const output&) const;
  // On any loop.  The texts that take the references' places, in their order.  Throws http_error 422 missing_asset that
  // names all that are unknown.
  portico::task<std::vector<std::string>> resolve(std::vector<reference>) const;

 private:
  const portico::host& host_;
  portico::service<comfy_assets> service_;
  keyed_hash hash_;
};

}  // namespace jobs
