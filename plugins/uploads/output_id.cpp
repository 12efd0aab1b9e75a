#include "plugins/uploads/output_id.hpp"

#include <portico/response.hpp>

#include "plugins/comfy/json.hpp"
#include "plugins/uploads/base64url.hpp"
#include "plugins/uploads/hmac.hpp"

namespace portico::uploads {
namespace {

constexpr std::size_t longest_id = 16 * 1024;

void member(std::string& json, const char* name, std::string_view value) {
  json.append(json.empty() ? "{\"" : ",\"").append(name).append("\":");
  append_json_string(json, value);
}

// False when the member is there and is not a string.
bool take(const comfy::json::value& object, std::string_view name, std::string& out) {
  const comfy::json::value found = object[name];
  if (!found) return true;
  out = found.text();
  return found.is_string();
}

}  // namespace

std::string output_ids::mint(const output& out) const {
  std::string json;
  if (!out.job_id.empty()) member(json, "j", out.job_id);
  member(json, "f", base_name(out.file.name));
  member(json, "s", out.file.subfolder);
  member(json, "t", out.file.type);
  std::string id = base64url(json += '}');
  const std::string tag = base64url(hmac_sha256(secret_, id));
  return id.append(".").append(tag);
}

std::optional<output> output_ids::open(std::string_view id) const {
  if (id.size() > longest_id) return std::nullopt;
  const std::size_t dot = id.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view payload = id.substr(0, dot);
  // The tag is compared as text and the payload is signed as text, so no second spelling of either is accepted.
  if (!equal_in_constant_time(base64url(hmac_sha256(secret_, payload)), id.substr(dot + 1))) return std::nullopt;

  const std::optional<std::string> json = from_base64url(payload);
  if (!json) return std::nullopt;
  const comfy::json::document document(*json);
  const comfy::json::value object = document.root();
  if (!object.is_object()) return std::nullopt;
  output out;
  if (!take(object, "j", out.job_id) || !take(object, "f", out.file.name) || !take(object, "s", out.file.subfolder) ||
      !take(object, "t", out.file.type))
    return std::nullopt;
  return out;
}

}  // namespace portico::uploads
