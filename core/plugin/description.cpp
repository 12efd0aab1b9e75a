// The checks of a plugin's description: nothing in it is believed before it was looked at.
#include <algorithm>
#include <cstddef>
#include <string>

#include "core/config/schema.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/manager.hpp"

namespace portico::plugin {
namespace {

// The sizes in version 1.0, whatever later minors of this header add: less is malformed, more is a younger plugin.
constexpr std::size_t oldest_table = offsetof(portico_plugin, destroy) + sizeof(portico_plugin::destroy);
constexpr std::size_t oldest_setting = offsetof(portico_setting, max) + sizeof(portico_setting::max);
constexpr std::size_t most_settings = 1000, most_services = 1000;

static_assert(static_cast<int>(config::kind::text) == PORTICO_SETTING_TEXT &&
              static_cast<int>(config::kind::secret) == PORTICO_SETTING_SECRET &&
              static_cast<int>(config::kind::path) == PORTICO_SETTING_PATH &&
              static_cast<int>(config::kind::integer) == PORTICO_SETTING_INTEGER &&
              static_cast<int>(config::kind::boolean) == PORTICO_SETTING_BOOLEAN &&
              static_cast<int>(config::kind::size) == PORTICO_SETTING_SIZE &&
              static_cast<int>(config::kind::duration) == PORTICO_SETTING_DURATION &&
              static_cast<int>(config::kind::upstream) == PORTICO_SETTING_UPSTREAM);

class reader {
 public:
  reader(const portico_plugin& table, std::string_view subject) : table_(table), subject_(subject) {}

  described read() {
    if (table_.struct_size < oldest_table)
      malformed("struct_size is " + std::to_string(table_.struct_size) + ", and version 1.0 has " +
                std::to_string(oldest_table) + " bytes");
    out_.table = &table_;
    out_.id = required("id", table_.id);
    out_.version = required("version", table_.version);
    out_.summary = required("summary", table_.summary);
    out_.homepage = table_.homepage ? table_.homepage : "";
    out_.build = table_.build ? table_.build : "";
    out_.needs_minor = table_.needs_minor;
    if (table_.needs_minor > PORTICO_ABI_MINOR) needs_younger_server();
    required("create", table_.create);
    required("start", table_.start);
    required("stop", table_.stop);
    required("destroy", table_.destroy);
    read_settings();
    read_services("provides", table_.provides, out_.provides);
    read_services("needs", table_.needs, out_.needs);
    read_services("uses", table_.uses, out_.uses);
    out_.lists_routes = PORTICO_HAS(&table_, portico_plugin, routes) && table_.routes;
    if (out_.lists_routes) read_services("routes", table_.routes, out_.routes);
    return std::move(out_);
  }

 private:
  [[noreturn]] void malformed(const std::string& why) const {
    std::string text(subject_);
    text += " has a malformed table: " + why;
    if (!out_.build.empty()) text += "; it was built with " + out_.build;
    throw refusal(text);
  }
  [[noreturn]] void needs_younger_server() const {
    std::string text(subject_);
    text += " needs minor " + std::to_string(table_.needs_minor) +
            " of the plugin interface, and this server has minor " + std::to_string(PORTICO_ABI_MINOR) + "; it is " +
            out_.id + " " + out_.version;
    if (!out_.build.empty()) text += ", built with " + out_.build;
    throw refusal(text + "; take a younger portico or an older build of it");
  }
  template <class P>
  P required(const char* member, P value) const {
    if (!value) malformed(std::string(member) + " is NULL");
    return value;
  }

  void read_settings() {
    if (!table_.setting_count) return;
    if (table_.setting_count > most_settings)
      malformed("setting_count is " + std::to_string(table_.setting_count) + ", and " + std::to_string(most_settings) +
                " are allowed");
    const auto* at = reinterpret_cast<const std::byte*>(required("settings", table_.settings));
    const std::uint32_t stride = table_.settings->struct_size;
    if (stride < oldest_setting || stride % alignof(portico_setting) != 0)
      malformed("struct_size of its settings is " + std::to_string(stride) + ", and version 1.0 has " +
                std::to_string(oldest_setting) + " bytes");
    for (std::size_t i = 0; i < table_.setting_count; ++i, at += stride)
      read_setting(*reinterpret_cast<const portico_setting*>(at), i);
  }

  void read_setting(const portico_setting& s, std::size_t number) {
    const std::string which = "setting " + std::to_string(number + 1);
    if (!s.name || !*s.name) malformed(which + " has no name");
    const std::string name(s.name);
    const bool plain = std::all_of(name.begin(), name.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (!plain) malformed(which + " is named \"" + name + "\"; allowed are a to z, 0 to 9 and _");
    if (name == "library" || name == "optional")
      malformed("it declares the key \"" + name + "\", which is portico's own");
    if (s.type < PORTICO_SETTING_TEXT || s.type > PORTICO_SETTING_UPSTREAM)
      malformed("the type of its key \"" + name + "\" is " + std::to_string(s.type) +
                ", which this server does not know");
    for (const declared_key& other : out_.keys)
      if (name == other.name) malformed("it declares the key \"" + name + "\" twice");
    if (s.fallback && s.type != PORTICO_SETTING_UPSTREAM) {
      const config::value v = config::parse_value(static_cast<config::kind>(s.type), s.fallback, s.min, s.max);
      if (!v) malformed("the default of its key \"" + name + "\" is no good: " + v.error);
    }
    out_.keys.push_back({s.type, s.name, s.help ? s.help : "", s.fallback, s.min, s.max});
  }

  void read_services(const char* list, const char* const* ids, std::vector<std::string>& out) const {
    for (; ids && *ids; ++ids) {
      if (!**ids) malformed(std::string(list) + " holds an empty text");
      if (out.size() == most_services) malformed(std::string(list) + " does not end in NULL");
      out.emplace_back(*ids);
    }
  }

  const portico_plugin& table_;
  std::string_view subject_;
  described out_;
};

}  // namespace

described read_description(const portico_plugin* table, std::string_view subject) {
  if (!table) throw refusal(std::string(subject) + " has a malformed table: it is NULL");
  return reader(*table, subject).read();
}

}  // namespace portico::plugin
