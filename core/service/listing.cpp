#include "core/service/listing.hpp"

#include <algorithm>

namespace portico::service {
namespace {

void add_line(std::string& out, std::string_view name, std::string_view text) {
  constexpr std::size_t width = 11;
  if (text.empty()) return;
  out += "  ";
  out += name;
  out.append(width > name.size() ? width - name.size() : 1, ' ');
  (out += text) += '\n';
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) (out += out.empty() ? "" : ", ") += part;
  return out;
}

void add_routes(std::string& out, const plugin::description& d) {
  if (!d.lists_routes) return add_line(out, "routes", "not listed; they are known once it has started");
  std::string_view name = d.routes.empty() ? "" : "routes";
  for (const std::string& route : d.routes) {
    add_line(out, name, route);
    name = "";
  }
}

void add_keys(std::string& out, const std::vector<plugin::description::key>& keys) {
  if (keys.empty()) return;
  out += "  keys\n";
  std::size_t width = 0;
  for (const auto& k : keys) width = std::max(width, k.name.size());
  for (const auto& k : keys) {
    out += "    " + k.name + std::string(width - k.name.size() + 2, ' ') + k.type;
    out += k.required ? ", must be set" : k.fallback.empty() ? ", default empty" : ", default " + k.fallback;
    if (!k.help.empty()) out += ": " + k.help;
    out += '\n';
  }
}

void add_plugin(std::string& out, const plugin::description& d) {
  out += d.name + (d.version.empty() ? "" : " " + d.version) + (d.enabled ? ", enabled" : ", not enabled") + '\n';
  add_line(out, "error", d.error);
  add_line(out, "summary", d.summary);
  add_line(out, "library", d.library);
  if (d.error.empty()) add_line(out, "interface", "1." + std::to_string(d.needs_minor) + " or younger");
  add_line(out, "build", d.build);
  add_line(out, "homepage", d.homepage);
  if (d.error.empty()) add_routes(out, d);
  add_line(out, "provides", joined(d.provides));
  add_line(out, "needs", joined(d.needs));
  add_line(out, "uses", joined(d.uses));
  add_keys(out, d.keys);
}

}  // namespace

std::string plugins_text(std::span<const plugin::description> found, const std::string& directory) {
  std::string out = "plugins by name are looked for in " + directory + "\n";
  if (found.empty()) out += "none found\n";
  for (const plugin::description& d : found) {
    out += '\n';
    add_plugin(out, d);
  }
  return out;
}

}  // namespace portico::service
