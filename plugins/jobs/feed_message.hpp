// plugins/jobs/feed_message.hpp - the messages of ComfyUI's WebSocket.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/comfy/json.hpp"

namespace jobs {

enum class native : std::uint8_t {
  status,
  execution_start,
  execution_cached,
  executing,
  executed,
  progress,
  progress_state,
  execution_success,
  execution_error,
  execution_interrupted,
  other
};

// A text message.  data is a view into the document it was read from, perhaps absent.
struct native_message {
  native kind = native::other;
  std::string prompt_id;  // empty: it names none
  comfy::json::value data;
  std::string node() const;           // data's node as text; empty: none, or null
  std::int64_t timestamp_us() const;  // 0: none
};
// Whatever is no message of a known kind is `other`.
native_message read_native(const comfy::json::document&);

// An image of a job that runs.
struct preview {
  std::string prompt_id, node_id;  // empty: not said
  std::string content_type;
  std::string_view image;  // a view into the frame
};
// A binary message; nothing when it holds no preview.
std::optional<preview> read_preview(std::string_view frame);
// The data of a preview event.
std::string preview_event(std::string_view node_id, std::string_view content_type, std::string_view image);

}  // namespace jobs
