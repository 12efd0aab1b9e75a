#include "plugins/uploads/placing.hpp"

#include "plugins/comfy/errors.hpp"

namespace portico::uploads {

placing::placing() noexcept {
  candidate.struct_size = sizeof candidate;
  result.struct_size = sizeof result;
}

void placing::throw_if_refused() const {
  if (result.status != 0) throw http_error(result.status, result.code, result.message, result.details);
}

task<> place(context where, const service<comfy_placement>& s, placing& p) {
  co_await ask(where, [&](portico_done done, void* user) {
    return s.table().place(s.self(), &p.candidate, &p.result, done, user);
  });
}

task<> check_model_file(context where, const service<comfy_placement>& s, placing& p) {
  co_await ask(where, [&](portico_done done, void* user) {
    return s.table().check(s.self(), &p.candidate, &p.result, done, user);
  });
}

http_error no_placement() {
  return http_error(
      422, comfy::code::invalid_request,
      "models can be taken only by a portico that is co-located with ComfyUI: one with the plugin model_upload "
      "enabled, and base_dir set to ComfyUI's folder");
}

}  // namespace portico::uploads
