#include "plugins/events/frame.hpp"

#include "plugins/comfy/jobs.h"

namespace events {

std::string_view name_of(int32_t kind) noexcept {
  switch (kind) {
    case COMFY_EVENT_PROGRESS:
      return "progress";
    case COMFY_EVENT_PREVIEW:
      return "preview";
    case COMFY_EVENT_OUTPUT:
      return "output";
    default:
      return "status";
  }
}

void write_frame(std::string& out, int32_t kind, std::string_view data) {
  out.clear();
  out.append("event: ").append(name_of(kind)).append("\ndata: ").append(data).append("\n\n");
}

}  // namespace events
