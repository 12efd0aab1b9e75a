#include "core/config/flags.hpp"

#include <algorithm>
#include <map>

#include "core/base/text.hpp"
#include "core/config/schema.hpp"
#include "core/config/sections.hpp"

namespace portico::config {
namespace {

constexpr std::string_view own_flags[] = {"config", "set", "help", "version"};
constexpr std::pair<std::string_view, command> own_commands[] = {
    {"run", command::run}, {"check", command::check}, {"plugins", command::plugins}};

bool is_own_command(std::string_view word) {
  return std::any_of(std::begin(own_commands), std::end(own_commands), [&](const auto& c) { return c.first == word; });
}

// One argument that begins with "--".
struct split_argument {
  std::string name, value;
  bool has_value = false;  // --name=value
};

split_argument split(std::string_view argument) {
  argument.remove_prefix(2);
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return {std::string(argument), {}, false};
  return {std::string(argument.substr(0, equals)), std::string(argument.substr(equals + 1)), true};
}

bool is_flag(std::string_view argument) { return argument.size() > 2 && argument.starts_with("--"); }

// The value of a flag: behind its "=", else the next argument, which must not look like a flag.
bool take_value(split_argument& a, const std::vector<std::string>& arguments, std::size_t& i) {
  if (a.has_value) return true;
  if (i + 1 >= arguments.size() || is_flag(arguments[i + 1])) return false;
  a.value = arguments[++i];
  return true;
}

class argument_reader {
 public:
  argument_reader(const flag_table& flags, const std::set<std::string>& enabled, const std::string& base, all_keys& all,
                  std::vector<std::string>& problems)
      : flags_(flags), enabled_(enabled), base_(base), all_(all), problems_(problems) {}

  request read(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == "-h") continue;
      if (is_flag(arguments[i]))
        read_flag(arguments, i);
      else if (waiting_)
        read_command_value(arguments[i]);
      else
        read_command(arguments[i]);
    }
    if (waiting_) problems_.push_back("command " + waiting_->first + ": its value is missing");
    enable_what_flags_say();
    return asked_;
  }

 private:
  // Behind all others, whatever was said of these and wherever.
  void enable_what_flags_say() {
    for (const auto& [plugin, where] : enabled_by_flags_) {
      assignment& a = all_["plugins"]["enabled"];
      if (a.value.empty()) a = assignment{{}, where, base_, false, true};
      a.value += (a.value.empty() ? "" : ", ") + plugin;
    }
  }

  void read_command(const std::string& word) {
    if (has_command_) {
      problems_.push_back("command line: \"" + word + "\" is left over; one command is allowed");
      return;
    }
    has_command_ = true;
    for (const auto& [name, what] : own_commands)
      if (word == name) {
        asked_.what = what;
        return;
      }
    if (const auto found = flags_.find(word); found != flags_.end() && found->second.command) {
      asked_ = {command::once, std::string(plugin_of(found->second.targets[0].section))};
      waiting_ = &*found;
      return;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, what] : own_commands) names.push_back(name);
    for (const auto& [name, f] : flags_)
      if (f.command) names.push_back(name);
    problems_.push_back("command line: unknown command \"" + word + "\"" + suggestion(word, names));
  }

  void read_command_value(const std::string& value) {
    if (value.empty()) return;  // as if it were not there
    assign("command " + waiting_->first, value, waiting_->second);
    waiting_ = nullptr;
  }

  void read_flag(const std::vector<std::string>& arguments, std::size_t& i) {
    split_argument a = split(arguments[i]);
    if (a.name == "help" || a.name == "version") return;
    if (a.name == "config") return (void)take_value(a, arguments, i);  // its faults were named by scan
    if (a.name == "set") return read_set(a, arguments, i);
    const auto found = flags_.find(a.name);
    if (found == flags_.end()) {
      // What follows is probably its value, and one message is enough.
      if (i + 1 < arguments.size() && !is_flag(arguments[i + 1])) take_value(a, arguments, i);
      return unknown(a.name);
    }
    const flag& f = found->second;
    if (f.command) {
      take_value(a, arguments, i);
      return problems_.push_back("flag --" + a.name + ": it is a command; write portico " + a.name + " VALUE");
    }
    if (!f.takes_value && !a.has_value)
      a.value = "yes";
    else if (!take_value(a, arguments, i))
      return (void)problems_.push_back("flag --" + a.name + ": its value is missing");
    if (f.list && a.value.empty())
      return (void)problems_.push_back("invalid --" + a.name + " \"\": the value is empty");
    assign("flag --" + a.name, a.value, f);
  }

  void read_set(split_argument& a, const std::vector<std::string>& arguments, std::size_t& i) {
    constexpr std::string_view form = "flag --set: allowed: --set section.key=value, such as --set server.port=9000";
    if (!take_value(a, arguments, i)) return (void)problems_.emplace_back(form);
    const std::size_t equals = a.value.find('=');
    const target t = split_target(std::string_view(a.value).substr(0, equals));
    if (equals == std::string::npos || t.section.empty()) return (void)problems_.emplace_back(form);
    const std::string where = "flag --set " + t.section + "." + t.key;
    if (t.section == "flags") return (void)problems_.push_back(where + ": [flags] can be set in an ini file only");
    if (const std::string plugin(plugin_of(t.section)); !plugin.empty() && !enabled_.contains(plugin))
      return (void)problems_.push_back(where + ": the plugin \"" + plugin +
                                       "\" is not enabled; add it to enabled in [plugins]");
    all_[t.section][t.key] = assignment{a.value.substr(equals + 1), where, base_, false, true};
  }

  void assign(const std::string& where, const std::string& value, const flag& f) {
    bool used = false;
    for (const target& t : f.targets) {
      const std::string plugin(plugin_of(t.section));
      if (t.enables && enabled_.insert(plugin).second) enabled_by_flags_.emplace(plugin, where);
      if (!plugin.empty() && !enabled_.contains(plugin)) continue;
      used = true;
      assignment& slot = all_[t.section][t.key];
      if (f.list && slot.from_flag && slot.where == where)
        slot.value += "," + value;
      else
        slot = assignment{value, where, base_, false, true};
    }
    if (used) return;
    std::string names;
    for (const target& t : f.targets)
      (names += names.empty() ? "\"" : ", \"") += std::string(plugin_of(t.section)) + "\"";
    problems_.push_back(where + (f.targets.size() == 1 ? ": needs the plugin " + names +
                                                             ", which is not enabled; add it to enabled in [plugins]"
                                                       : ": needs one of the plugins " + names +
                                                             ", and none is enabled; add one to enabled in [plugins]"));
  }

  void unknown(const std::string& name) {
    std::vector<std::string_view> known(std::begin(own_flags), std::end(own_flags));
    for (const auto& [flag_name, f] : flags_)
      if (!f.command) known.push_back(flag_name);
    const std::string_view near = base::nearest(name, known);
    problems_.push_back("command line: unknown flag --" + name +
                        (near.empty() ? std::string() : "; did you mean --" + std::string(near) + "?") +
                        "; portico --help lists all");
  }

  const flag_table& flags_;
  std::set<std::string> enabled_;
  std::map<std::string, std::string> enabled_by_flags_;  // and which flag it was
  const std::string& base_;
  all_keys& all_;
  std::vector<std::string>& problems_;
  request asked_;
  bool has_command_ = false;
  const flag_table::value_type* waiting_ = nullptr;  // a command whose value has not come yet
};

// How a flag without a schema at hand is described.
std::string flag_help(const flag& f) {
  for (const target& t : f.targets)
    if (const key_info* info = find_key(t.section, t.key)) return std::string(info->help);
  std::string out;
  for (const target& t : f.targets)
    (out += out.empty() ? "" : ", ") += t.key + " of the plugin " + std::string(plugin_of(t.section));
  return out;
}

}  // namespace

early_arguments scan(const std::vector<std::string>& arguments, std::vector<std::string>& problems) {
  early_arguments out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-h") out.help = true;
    if (!is_flag(arguments[i])) continue;
    split_argument a = split(arguments[i]);
    if (a.name == "help") out.help = true;
    if (a.name == "version") out.version = true;
    if (a.name == "set" && !a.has_value && i + 1 < arguments.size()) a.value = arguments[i + 1];
    if (constexpr std::string_view key = "plugins.enabled="; a.name == "set" && a.value.starts_with(key)) {
      const std::string& said = a.has_value ? arguments[i] : arguments[i + 1];
      out.enabled = said.c_str() + (said.size() - a.value.size()) + key.size();
    }
    if (a.name != "config") continue;
    if (!take_value(a, arguments, i) || a.value.empty())
      problems.emplace_back("flag --config: its value is missing");
    else
      out.config = a.value;
  }
  return out;
}

namespace {

// The keys a flag stands for, as its value in [flags] lists them; what is wrong goes to tell, and then f has no
// targets.
template <class Tell>
void read_targets(std::string_view value, flag& f, Tell tell) {
  bool all_boolean = true;
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t begin = rest.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
    std::string_view word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    const char sign = word.front();
    if (sign == '+' || sign == '!') word.remove_prefix(1);
    target t = split_target(word);
    t.command = sign == '!';
    t.enables = (sign == '+' || t.command) && !plugin_of(t.section).empty();
    const key_info* info = find_key(t.section, t.key);
    if (!info && plugin_of(t.section).empty()) {
      f.targets.clear();
      return tell("\"" + std::string(word) +
                  "\" is not a key; allowed: section.key, several with a blank between them");
    }
    all_boolean = all_boolean && info && info->type == kind::boolean;
    f.list = f.list && info && info->type == kind::list;
    f.targets.push_back(std::move(t));
  }
  if (f.targets.empty()) tell("names no key; allowed: section.key, several with a blank between them");
  f.takes_value = !all_boolean;
  f.command = std::any_of(f.targets.begin(), f.targets.end(), [](const target& t) { return t.command; });
  if (f.command && (f.targets.size() > 1 || !f.targets[0].enables)) {
    f.targets.clear();
    tell("a command sets one key of a plugin; allowed: !plugin.NAME.key, alone");
  }
}

}  // namespace

flag_table read_flags(const section_keys& keys, std::vector<std::string>& problems) {
  flag_table table;
  for (const auto& entry : keys) {
    const std::string& name = entry.first;
    const std::string& where = entry.second.where;
    const auto tell = [&](const std::string& text) { problems.push_back(where + ": [flags] " + name + ": " + text); };
    if (std::find(std::begin(own_flags), std::end(own_flags), name) != std::end(own_flags)) {
      tell("this flag is the program's own");
      continue;
    }
    flag f{where, {}, true, true, false};
    read_targets(entry.second.value, f, tell);
    if (f.command && is_own_command(name)) {
      tell("this command is the program's own");
      continue;
    }
    if (!f.targets.empty()) table.emplace(name, std::move(f));
  }
  return table;
}

request read_arguments(const std::vector<std::string>& arguments, const flag_table& flags,
                       const std::set<std::string>& enabled, const std::string& base, all_keys& all,
                       std::vector<std::string>& problems) {
  return argument_reader(flags, enabled, base, all, problems).read(arguments);
}

namespace {

using rows = std::vector<std::pair<std::string, std::string>>;

// Two columns.
std::string aligned(const rows& all) {
  std::string out;
  std::size_t width = 0;
  for (const auto& [left, right] : all) width = std::max(width, left.size());
  for (const auto& [left, right] : all) {
    out.append("  ").append(left).append(width - left.size() + 2, ' ');
    out.append(right).append("\n");
  }
  return out;
}

}  // namespace

std::string help_text(const flag_table& flags, const std::string& default_ini) {
  rows commands = {{"run", "serve until SIGTERM or SIGINT (the default)"},
                   {"check", "validate the ini, the plugins and their keys without any effect"},
                   {"plugins", "list the plugins that are found, with version, interface, routes and keys"}};
  rows others = {
      {"--config FILE", "ini file; else $PORTICO_CONFIG, else " + default_ini + " if it exists, else what is built in"},
      {"--set SECTION.KEY=VALUE", "sets any key of the ini"},
      {"--help", "this text"},
      {"--version", "the version"}};
  for (const auto& [name, f] : flags)
    if (f.command)
      commands.emplace_back(name + " VALUE", "start one plugin alone, and end: sets " + flag_help(f));
    else
      others.emplace_back("--" + name + (f.takes_value ? " VALUE" : ""),
                          flag_help(f) + (f.list ? " (may be repeated)" : ""));
  return "usage: portico [COMMAND] [flags]\n\n" + aligned(commands) + "\nflags, as --flag VALUE or --flag=VALUE:\n" +
         aligned(others) +
         "\nEvery key can also be set by an environment variable: PORTICO_SERVER__PORT, PORTICO_PLUGIN__NAME__KEY.\n"
         "Exit codes: 0 good; 1 an internal fault; 2 usage or configuration; 3 a plugin; 4 the address.\n";
}

}  // namespace portico::config
