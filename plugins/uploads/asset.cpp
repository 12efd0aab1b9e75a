#include "plugins/uploads/asset.hpp"

#include <portico/response.hpp>

#include "plugins/comfy/content_type.hpp"
#include "plugins/uploads/output_id.hpp"

namespace portico::uploads {
namespace {

void text(std::string& json, const char* key, std::string_view value) { append_json_string(json.append(key), value); }

void link(std::string& json, std::string_view base_url, std::string_view id, instant at) {
  std::string url(base_url);
  url.append("/api/v2/assets/").append(percent_encode(id)).append("/content");
  text(json, ",\"url\":", url);
  text(json, ",\"url_expires_at\":", to_text(at + day));
}

}  // namespace

std::string to_json(const asset& a, std::string_view base_url, instant at, created_new is_new) {
  std::string json;
  json.reserve(512);
  text(json, "{\"id\":", a.id);
  text(json, ",\"hash\":", a.bytes->hash);
  json.append(",\"size_bytes\":").append(std::to_string(a.bytes->size));
  text(json, ",\"content_type\":", a.content_type);
  text(json, ",\"file_path\":", a.file_path);
  text(json, ",\"created_at\":", to_text(a.created));
  link(json, base_url, a.id, at);
  if (a.expires) text(json, ",\"expires_at\":", to_text(a.expires));
  if (is_new != created_new::unsaid)
    json.append(",\"created_new\":").append(is_new == created_new::yes ? "true" : "false");
  return json += '}';
}

std::string to_json(const output& o, std::string_view id, std::string_view base_url, instant at) {
  const std::string_view name = base_name(o.file.name);
  std::string json;
  json.reserve(640);
  text(json, "{\"id\":", id);
  json.append(",\"hash\":null,\"size_bytes\":0");
  text(json, ",\"content_type\":", comfy::content_type_of(name));
  text(json, ",\"file_path\":", name);
  text(json, ",\"created_at\":", to_text(at));
  link(json, base_url, id, at);
  if (!o.job_id.empty()) text(json, ",\"job_id\":", o.job_id);
  return json += '}';
}

}  // namespace portico::uploads
