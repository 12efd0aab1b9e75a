// Files: /view and /upload/image.
#include <charconv>
#include <cstdio>
#include <ctime>

#include "plugins/comfyui_standin/multipart.hpp"
#include "plugins/comfyui_standin/standin.hpp"

namespace standin {
namespace {

std::string date_text(std::int64_t seconds) {
  static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t t = static_cast<std::time_t>(seconds);
  const std::tm utc = *std::gmtime(&t);  // only ever called on loop 0
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[utc.tm_wday], utc.tm_mday,
                months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return text;
}

// The bytes a Range header asks for, of a file of `size` bytes.
struct span {
  bool satisfiable = true;
  std::size_t first = 0, length = 0;
};
span range_of(std::string_view header, std::size_t size) {
  const span bad{false, 0, 0};
  if (header.substr(0, 6) != "bytes=") return bad;
  header.remove_prefix(6);
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.find_first_not_of("0123456789-") != std::string_view::npos ||
      header.find('-', dash + 1) != std::string_view::npos || header.size() == 1)
    return bad;
  const auto number = [](std::string_view s, unsigned long long& n) {
    return std::from_chars(s.data(), s.data() + s.size(), n).ec == std::errc();
  };
  unsigned long long first = 0, last = 0;
  const std::string_view from = header.substr(0, dash), to = header.substr(dash + 1);
  if ((!from.empty() && !number(from, first)) || (!to.empty() && !number(to, last))) return bad;
  if (from.empty()) {  // the last bytes
    if (!last) return bad;
    const std::size_t length = last < size ? static_cast<std::size_t>(last) : size;
    return {size != 0, size - length, length};
  }
  if (first >= size || (!to.empty() && last < first)) return bad;
  if (to.empty() || last >= size) last = size - 1;
  return {true, static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)};
}

// A quoted name may hold neither quotes nor control characters.
std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) out.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
  return out + '"';
}

}  // namespace

standin::reply standin::get_view(const call& c) {
  counters_.saw_view(c.query_text);
  if (!c.has_query("filename")) return portico::response(404);
  const std::string filename = c.query("filename"), subfolder = c.query("subfolder");
  const std::string type = c.has_query("type") ? c.query("type") : "output";
  if (filename.empty() || filename[0] == '/' || filename.find("..") != std::string::npos) return portico::response(400);
  if (!folders::known(type)) return portico::response(400);
  const std::string base = filename.substr(filename.rfind('/') + 1);  // npos + 1 is 0: the whole name
  const std::optional<std::string> folder = folders::inside(subfolder, {});
  const std::optional<std::string> path = folders::inside(subfolder, base);
  if (!folder || !path) return portico::response(403);
  const stored_file* file = base.empty() ? nullptr : folders_.find(type, *path);
  if (!file) return portico::response(404);

  const std::string etag = file->etag(), modified = date_text(file->modified);
  const auto common = [&](int status) {
    portico::response r(status);
    r.header("etag", etag).header("last-modified", modified).header("accept-ranges", "bytes");
    return r;
  };
  const std::string_view known = c.header("if-none-match");
  if (known == etag || known == "*" || (known.empty() && c.header("if-modified-since") == modified)) return common(304);
  const std::string_view wanted = c.header("range"), condition = c.header("if-range");
  const bool partial = !wanted.empty() && (condition.empty() || condition == etag || condition == modified);
  const std::size_t size = file->bytes->size();
  const span part = partial ? range_of(wanted, size) : span{true, 0, size};
  if (!part.satisfiable) return common(416).header("content-range", "bytes */" + std::to_string(size));

  const std::string_view media = media_type_of(base);
  portico::response head = common(partial ? 206 : 200);
  head.header("content-type", std::string(is_active(media) ? "application/octet-stream" : media));
  head.header("content-disposition", (is_active(media) ? "attachment; filename=" : "filename=") + quoted(base));
  head.header("x-content-type-options", "nosniff");
  if (partial)
    head.header("content-range", "bytes " + std::to_string(part.first) + '-' +
                                     std::to_string(part.first + part.length - 1) + '/' + std::to_string(size));
  reply r(std::move(head));
  r.file = file->bytes;
  r.from = part.first;
  r.length = part.length;
  return r;
}

standin::reply standin::post_upload(const call& c) {
  const std::optional<std::string> boundary = boundary_of(c.header("content-type"));
  const auto parts = boundary ? parse_form(c.body, *boundary) : std::nullopt;
  if (!parts) return portico::response(400);
  const auto field = [&](const char* name) {
    const form_part* part = find_part(*parts, name);
    return part ? std::string(part->bytes) : std::string();
  };
  const form_part* picture = find_part(*parts, "image");
  std::string type = field("type");
  if (!folders::known(type)) type = "input";
  if (!picture || picture->filename.empty()) return portico::response(400);
  const std::string subfolder = field("subfolder"), overwrite = field("overwrite");
  const std::optional<std::string> name = folders_.upload(
      type, subfolder, picture->filename, std::string(picture->bytes), overwrite == "true" || overwrite == "1");
  if (!name) return portico::response(400);
  json out = json::object();
  out.set("name", json::text(*name));
  out.set("subfolder", json::text(subfolder));
  out.set("type", json::text(type));
  return portico::response::json(200, out.print());
}

}  // namespace standin
