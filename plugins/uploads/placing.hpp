// plugins/uploads/placing.hpp - asking comfy.placement/1.
#pragma once
#include <portico/sdk.hpp>

#include "plugins/comfy/placement.h"

namespace portico::uploads {

// A candidate and what became of it; what its texts view outlives it.
struct placing {
  comfy_candidate candidate{};
  comfy_placement_result result{};
  placing() noexcept;
  // http_error as the service said.
  void throw_if_refused() const;
};

task<> place(context, const service<comfy_placement>&, placing&);
task<> check_model_file(context, const service<comfy_placement>&, placing&);

// http_error 422: models cannot be taken here.
http_error no_placement();

}  // namespace portico::uploads
