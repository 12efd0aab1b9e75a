#include "core/config/load.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "core/base/loopback.hpp"
#include "core/base/text.hpp"
#include "core/config/flags.hpp"
#include "core/config/ini.hpp"
#include "core/config/layers.hpp"
#include "core/config/schema.hpp"
#include "core/config/sections.hpp"
#include "core/config/token_file.hpp"

namespace portico::config {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) (out += out.empty() ? "" : "\n") += line;
  return out;
}

// The name of a plugin or an upstream: what environment variables can say too.
bool is_plain_name(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z' || name.back() == '_' || name.find("__") != std::string_view::npos)
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}
constexpr std::string_view plain_name = "; allowed: a letter, then lower-case letters, digits and single _";

// Turns the merged layers into settings, and says what is wrong with them.
class interpreter {
 public:
  interpreter(const all_keys& all, settings& out, std::vector<std::string>& problems)
      : all_(all), out_(out), problems_(problems) {}

  void run(const std::string& default_directory) {
    out_.plugin_directory = default_directory;
    read_enabled();
    for (const auto& [name, keys] : all_) read_section(name, keys);
    if (out_.only.empty()) return check_bind();
    for (plugin_section& p : out_.plugins)
      if (p.name == out_.only) p.optional = false;  // without it there is nothing to do
  }

 private:
  void problem(const assignment& a, std::string_view section, std::string_view key, const std::string& text) {
    problems_.push_back(place(a, section, key) + ": " + text);
  }

  // The parsed value of a known key; an unknown key or a bad value is a problem, and false.
  bool parse(std::string_view section, const std::string& key, const assignment& a, value& out) {
    const key_info* info = find_key(section, key);
    if (info == nullptr) {
      std::vector<std::string_view> known;
      for (const key_info& k : known_keys(section)) known.push_back(k.name);
      problems_.push_back(a.where + ": [" + std::string(section) + "] unknown key \"" + key + "\"" +
                          suggestion(key, known));
      return false;
    }
    out = parse_value(info->type, a.value, info->min, info->max, a.base);
    if (!out) problem(a, section, key, out.error);
    return static_cast<bool>(out);
  }

  void read_enabled() {
    const auto section = all_.find("plugins");
    if (section == all_.end()) return;
    for (const auto& [key, a] : section->second) {
      value v;
      if (!parse("plugins", key, a, v)) continue;
      if (key == "directory") out_.plugin_directory = v.text;
      if (key != "enabled") continue;
      for (const std::string& name : v.items) {
        const auto same = [&](const plugin_section& p) { return p.name == name; };
        if (!is_plain_name(name))
          problem(a, "plugins", key, "\"" + name + "\" is not a plugin's name" + std::string(plain_name));
        else if (std::any_of(out_.plugins.begin(), out_.plugins.end(), same))
          problem(a, "plugins", key, "\"" + name + "\" is named twice");
        else
          out_.plugins.push_back({name, {}, false, place(a, "plugins", key), {}});
      }
    }
  }

  void read_section(const std::string& name, const section_keys& keys) {
    if (name == "plugins" || name == "flags") return;  // read already
    if (name == "server") return read_server(keys);
    if (name.starts_with("upstream.")) return read_upstream(name, keys);
    if (!plugin_of(name).empty()) return read_plugin(name, keys);
    constexpr std::string_view known[] = {"server", "upstream.NAME", "plugins", "plugin.NAME", "flags"};
    const std::string& where = keys.where.empty() ? keys.begin()->second.where : keys.where;
    problems_.push_back(where + ": unknown section [" + name + "]" + suggestion(name, known));
  }

  void read_server(const section_keys& keys) {
    for (const auto& [key, a] : keys) {
      value v;
      if (!parse("server", key, a, v)) continue;
      const std::string error = apply(key, std::move(v), out_.server);
      if (error.empty()) continue;
      constexpr std::string_view origin = "invalid origin ";
      // Whoever set it by a flag is told so in the words of that flag.
      if (a.from_flag && error.starts_with(origin))
        problems_.push_back("invalid " + a.where.substr(a.where.find("--")) + " " + error.substr(origin.size()));
      else
        problem(a, "server", key, error);
    }
    if (const auto file = keys.find("token_file"); file != keys.end()) read_token(file->second, keys.contains("token"));
  }

  void read_token(const assignment& a, bool also_token) {
    server_section& s = out_.server;
    if (s.token_file.empty()) return;
    if (also_token) return problem(a, "server", "token_file", "there is a token as well; keep one of the two");
    const token_from_file found = read_token_file(s.token_file);
    if (!found.error.empty()) problem(a, "server", "token_file", found.error);
    if (!found.warning.empty()) out_.warnings.push_back(place(a, "server", "token_file") + ": " + found.warning);
    s.token = found.token;
    tokenless_ = !found.error.empty();
  }

  void read_upstream(const std::string& section, const section_keys& keys) {
    upstream_section u;
    u.name = section.substr(section.find('.') + 1);
    u.where = keys.where.empty() ? keys.begin()->second.where : keys.where;
    if (!is_plain_name(u.name))
      return problems_.push_back(u.where + ": [" + section + "] \"" + u.name + "\" is not an upstream's name" +
                                 std::string(plain_name));
    bool good = true;
    for (const auto& [key, a] : keys) {
      value v;
      if (key == "url") u.where = a.where;
      if (!parse(section, key, a, v)) {
        good = false;
        continue;
      }
      if (const std::string error = apply(key, std::move(v), u); !error.empty()) {
        problem(a, section, key, error);
        good = false;
      }
    }
    if (good && u.url.empty())
      problems_.push_back(u.where + ": [" + section + "] needs the key url, such as http://127.0.0.1:8000");
    out_.upstreams.push_back(std::move(u));
  }

  void read_plugin(const std::string& section, const section_keys& keys) {
    const std::string name(plugin_of(section));
    const auto at =
        std::find_if(out_.plugins.begin(), out_.plugins.end(), [&](const plugin_section& p) { return p.name == name; });
    if (at == out_.plugins.end()) return warn_not_enabled(section, name, keys);
    const auto library = keys.find("library");
    const bool own_library = library != keys.end() && !library->second.builtin;
    for (const auto& [key, a] : keys) {
      if (find_key(section, key) == nullptr) {
        // The built-in default speaks of the plugin that is shipped under this name, not of one named by its file.
        if (!(own_library && a.builtin)) at->keys[key] = setting{a.value, a.where, a.base};
        continue;
      }
      value v;
      if (!parse(section, key, a, v)) continue;
      if (key == "library") {
        if (v.text.empty()) problem(a, section, key, "the path is empty");
        at->library = v.text;
        at->where = a.where;
      } else {
        at->optional = v.number != 0;
      }
    }
  }

  void warn_not_enabled(const std::string& section, const std::string& name, const section_keys& keys) {
    for (const auto& [key, a] : keys) {
      if (a.builtin) continue;
      std::vector<std::string_view> enabled;
      for (const plugin_section& p : out_.plugins) enabled.push_back(p.name);
      const std::string_view near = base::nearest(name, enabled);
      out_.warnings.push_back(a.where + ": the plugin of [" + section + "] is not enabled, so its keys have no effect" +
                              (near.empty() ? std::string() : "; did you mean [plugin." + std::string(near) + "]?"));
      return;
    }
  }

  void check_bind() {
    const server_section& s = out_.server;
    if (s.host == "localhost" || base::is_loopback_literal(s.host) || !s.token.empty() || s.allow_insecure_bind) return;
    if (tokenless_) return;  // what is wrong with its token has been said
    const std::string what = s.host.empty() ? "all addresses (the host is empty)" : "\"" + s.host + "\"";
    problems_.push_back(
        "refusing to bind " + what +
        " without a token: others on the network could use this server; set a "
        "token (--token, or token or token_file in [server]), listen on 127.0.0.1, or set allow_insecure_bind");
  }

  const all_keys& all_;
  settings& out_;
  std::vector<std::string>& problems_;
  bool tokenless_ = false;  // a token was meant, and cannot be had
};

// Messages about files in the order of their lines; those about anything else behind them, as they were found.
void sort_by_place(std::vector<std::string>& problems) {
  std::vector<std::string> files;
  struct ranked {
    std::size_t file;
    int line;
    std::string text;
  };
  std::vector<ranked> all;
  for (std::string& text : problems) {
    std::size_t digits = text.find(": ");
    const std::size_t end = digits == std::string::npos ? 0 : digits;
    for (digits = end; digits > 0 && base::is_digit(text[digits - 1]);) --digits;
    const std::optional<int> line = base::parse_integer<int>(std::string_view(text).substr(digits, end - digits));
    std::size_t file = static_cast<std::size_t>(-1);
    if (line && digits > 0 && text[digits - 1] == ':') {
      const auto at = std::find(files.begin(), files.end(), text.substr(0, digits));
      file = static_cast<std::size_t>(at - files.begin());
      if (at == files.end()) files.push_back(text.substr(0, digits));
    }
    all.push_back({file, file == static_cast<std::size_t>(-1) ? 0 : *line, std::move(text)});
  }
  std::stable_sort(all.begin(), all.end(), [](const ranked& a, const ranked& b) {
    return a.file != b.file ? a.file < b.file : a.line < b.line;
  });
  for (std::size_t i = 0; i < all.size(); ++i) problems[i] = std::move(all[i].text);
}

std::string variable(const sources& from, std::string_view name) {
  for (const auto& [key, text] : from.environment)
    if (key == name) return text;
  return {};
}

std::string choose_ini(const sources& from, const early_arguments& early) {
  if (!early.config.empty()) return early.config;
  if (std::string named = variable(from, "PORTICO_CONFIG"); !named.empty()) return named;
  std::error_code ignored;
  if (!from.default_ini.empty() && std::filesystem::exists(from.default_ini, ignored)) return from.default_ini;
  return {};
}

// The names in enabled, whether good or not; their faults are found later.
std::set<std::string> enabled_names(const all_keys& all, const early_arguments& early) {
  std::string text;
  if (const auto section = all.find("plugins"); section != all.end())
    if (const auto key = section->second.find("enabled"); key != section->second.end()) text = key->second.value;
  if (early.enabled != nullptr) text = early.enabled;
  const value list = parse_value(kind::list, text);
  return {list.items.begin(), list.items.end()};
}

}  // namespace

invalid::invalid(std::vector<std::string> found) : std::runtime_error(joined(found)), problems_(std::move(found)) {}

program load(const sources& from) {
  std::vector<std::string> problems;
  const early_arguments early = scan(from.arguments, problems);
  program out;
  if (early.version && !early.help) {
    out.what = command::version;
    return out;
  }
  const std::string& here = from.working_directory;
  out.config.ini_path = early.help && early.config.empty() ? std::string() : choose_ini(from, early);
  out.config.base_directory = here;
  all_keys all;
  ini_document builtin, file;
  read_ini_text(from.builtin, "built-in default", here, builtin, problems);
  add_document(builtin, here, true, all);
  if (!out.config.ini_path.empty()) {
    const std::string full = absolute_path(out.config.ini_path, here);
    out.config.base_directory = std::filesystem::path(full).parent_path().string();
    read_ini_file(out.config.ini_path, file, problems);
    add_document(file, out.config.base_directory, false, all);
  }
  const flag_table flags = read_flags(all["flags"], problems);
  if (early.help) {
    out.what = command::help;
    out.help = help_text(flags, from.default_ini);
    return out;
  }
  add_environment(from.environment, here, all, problems);
  request asked = read_arguments(from.arguments, flags, enabled_names(all, early), here, all, problems);
  out.what = asked.what;
  out.config.only = std::move(asked.plugin);
  interpreter(all, out.config, problems).run(from.plugin_directory);
  sort_by_place(problems);
  if (!problems.empty()) throw invalid(std::move(problems));
  return out;
}

}  // namespace portico::config
