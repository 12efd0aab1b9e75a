#include "core/plugin/keys.hpp"

#include <algorithm>
#include <vector>

#include "core/config/schema.hpp"
#include "core/plugin/manager.hpp"

namespace portico::plugin {
namespace {

class key_reader {
 public:
  key_reader(const config::settings& all, const config::plugin_section& section, const described& plugin)
      : all_(all), section_(section), plugin_(plugin) {}

  std::map<std::string, key_value, std::less<>> read() const {
    refuse_unknown_keys();
    std::map<std::string, key_value, std::less<>> out;
    for (const declared_key& key : plugin_.keys) out.emplace(key.name, value_of(key));
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& where, const std::string& what) const {
    throw refusal(where + ": [plugin." + section_.name + "] " + what);
  }

  void refuse_unknown_keys() const {
    std::vector<std::string_view> known{"library", "optional"};
    for (const declared_key& key : plugin_.keys) known.emplace_back(key.name);
    std::sort(known.begin(), known.end());
    for (const auto& [name, set] : section_.keys) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        refuse(set.where, "unknown key \"" + name + "\"" + config::suggestion(name, known));
    }
  }

  key_value value_of(const declared_key& key) const {
    const auto set = section_.keys.find(key.name);
    if (set == section_.keys.end() && !key.fallback) {
      std::string help = key.help;
      if (!help.empty()) help = " (" + help + ")";
      refuse(section_.where, "the key \"" + std::string(key.name) + "\" must be set" + help);
    }
    const bool given = set != section_.keys.end();
    const std::string where = given ? set->second.where : section_.where;
    const std::string& base = given ? set->second.base : all_.base_directory;
    const auto kind = static_cast<config::kind>(key.type);
    config::value v =
        config::parse_value(kind, given ? std::string_view(set->second.value) : key.fallback, key.min, key.max, base);
    if (!v) refuse(where, std::string(key.name) + ": " + v.error);
    if (kind == config::kind::upstream) v.text = url_of(v.text, where, key.name);
    return {std::move(v.text), v.number};
  }

  std::string url_of(const std::string& name, const std::string& where, const char* key) const {
    std::vector<std::string_view> known;
    for (const config::upstream_section& u : all_.upstreams) {
      if (u.name == name) return u.url;
      known.emplace_back(u.name);
    }
    refuse(where, std::string(key) + ": there is no section [upstream." + name + "]" + config::suggestion(name, known));
  }

  const config::settings& all_;
  const config::plugin_section& section_;
  const described& plugin_;
};

}  // namespace

std::map<std::string, key_value, std::less<>> read_keys(const config::settings& all,
                                                        const config::plugin_section& section,
                                                        const described& plugin) {
  return key_reader(all, section, plugin).read();
}

}  // namespace portico::plugin
