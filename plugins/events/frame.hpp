// plugins/events/frame.hpp - what goes over the wire of an event stream.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace events {

// The event's name for a kind of plugins/comfy/jobs.h; a fixed list, so that no text from elsewhere becomes one.
std::string_view name_of(int32_t kind) noexcept;
// Replaces out by the frame.  data: one line, for which JSON with its control characters escaped is enough.
void write_frame(std::string& out, int32_t kind, std::string_view data);
inline constexpr std::string_view heartbeat = ": keepalive\n\n";

}  // namespace events
