#include "plugins/uploads/names.hpp"

#include "plugins/comfy/path_text.hpp"

namespace portico::uploads {
namespace {

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view base_name(std::string_view path) noexcept { return comfy::base_name(path); }

bool is_contained(const file_ref& file) noexcept {
  const std::string_view name = base_name(file.name), folder = file.subfolder;
  if (file.type != "input" && file.type != "output" && file.type != "temp") return false;
  if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos) return false;
  if (folder.find('\0') != std::string_view::npos || comfy::leads_upwards(folder)) return false;
  if (folder.starts_with('/') || folder.starts_with('\\')) return false;
  return !(folder.size() >= 2 && is_letter(folder[0]) && folder[1] == ':');
}

std::string view_path(const file_ref& file) {
  std::string out = "/view?filename=";
  out.append(percent_encode(base_name(file.name)));
  out.append("&subfolder=").append(percent_encode(file.subfolder));
  return out.append("&type=").append(percent_encode(file.type));
}

std::string reference_text(const file_ref& file) {
  std::string out = file.subfolder;
  if (!out.empty()) out += '/';
  out.append(base_name(file.name));
  if (file.type != "input") out.append(" [").append(file.type).append("]");
  return out;
}

std::string percent_encode(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

}  // namespace portico::uploads
