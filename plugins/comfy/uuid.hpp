// plugins/comfy/uuid.hpp - the ids of jobs, as they are written.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace comfy {

// "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b": lower case, with its dashes.  Nothing for any other spelling.
std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view) noexcept;

// Whether a dash stands at that place of the text.
constexpr bool uuid_has_dash_at(std::size_t i) noexcept { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace comfy
