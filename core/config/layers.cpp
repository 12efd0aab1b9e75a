#include "core/config/layers.hpp"

namespace portico::config {
namespace {

// PLUGIN__MODEL_UPLOAD__BASE_DIR → plugin.model_upload and base_dir.  False: it has another form.
bool split_variable(std::string_view name, target& out) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      parts.emplace_back();
      ++i;
      continue;
    }
    const bool word = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) return false;
    parts.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (parts.size() < 2 || parts.size() > 3) return false;
  for (const std::string& part : parts)
    if (part.empty()) return false;
  out.section = parts.size() == 2 ? parts[0] : parts[0] + "." + parts[1];
  out.key = parts.back();
  return true;
}

}  // namespace

target split_target(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return {};
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1)), false, false};
}

std::string_view plugin_of(std::string_view section) noexcept {
  constexpr std::string_view prefix = "plugin.";
  return section.starts_with(prefix) ? section.substr(prefix.size()) : std::string_view();
}

void add_document(const ini_document& document, const std::string& base, bool builtin, all_keys& all) {
  for (const ini_section& section : document.sections) {
    section_keys& keys = all[section.name];  // also when it is empty, so that its name is looked at
    keys.where = section.where;
    for (const ini_entry& e : section.entries) keys[e.key] = assignment{e.value, e.where, base, builtin, false};
  }
}

void add_environment(const std::vector<std::pair<std::string, std::string>>& environment, const std::string& base,
                     all_keys& all, std::vector<std::string>& problems) {
  constexpr std::string_view prefix = "PORTICO_";
  for (const auto& [name, text] : environment) {
    // Container platforms set variables such as PORTICO_PORT for a service of this name; only ours have the double one.
    if (!std::string_view(name).starts_with(prefix) || name.find("__") == std::string::npos) continue;
    target t;
    if (!split_variable(std::string_view(name).substr(prefix.size()), t))
      problems.push_back("environment " + name +
                         ": the name has another form than PORTICO_SECTION__KEY or PORTICO_PLUGIN__NAME__KEY");
    else if (t.section == "flags")
      problems.push_back("environment " + name + ": [flags] can be set in an ini file only");
    else
      all[t.section][t.key] = assignment{text, "environment " + name, base, false, false};
  }
}

std::string place(const assignment& a, std::string_view section, std::string_view key) {
  if (a.from_flag) return a.where;
  return a.where + ": [" + std::string(section) + "] " + std::string(key);
}

}  // namespace portico::config
