// plugins/comfyui_standin/multipart.hpp - the parts of a multipart/form-data body that is in memory as a whole.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace standin {

struct form_part {
  std::string name, filename, content_type;
  std::string_view bytes;  // in the body
};

// The boundary named by a Content-Type of multipart/form-data; nothing when it is another type, or names none.
std::optional<std::string> boundary_of(std::string_view content_type);

// The parts in their order; nothing when the body does not keep to the format or ends before its last boundary.
std::optional<std::vector<form_part>> parse_form(std::string_view body, std::string_view boundary);

// The first part of that name.
const form_part* find_part(const std::vector<form_part>&, std::string_view name);

}  // namespace standin
