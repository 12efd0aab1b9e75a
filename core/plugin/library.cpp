#include "core/plugin/library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <algorithm>
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/plugin/image.hpp"
#include "core/plugin/manager.hpp"

namespace portico::plugin {
namespace {

namespace dll = boost::dll;
namespace fs = std::filesystem;

using query_function = std::remove_pointer_t<portico_query_fn>;

[[noreturn]] void refuse(std::string_view subject, const std::string& why) {
  throw refusal(std::string(subject) + " " + why);
}

// Loaded libraries stay here for good: code that may still be on some thread's stack must not be unmapped.
dll::shared_library& keep(dll::shared_library library) {
  static auto* const all = new std::vector<std::unique_ptr<dll::shared_library>>;
  return *all->emplace_back(std::make_unique<dll::shared_library>(std::move(library)));
}

// What the loader itself said, without what Boost.DLL and the system put around it.
std::string loader_words(std::string text) {
  for (const std::string_view noise : {"boost::dll::shared_library::load() failed", "(dlerror system message: "})
    if (const auto at = text.find(noise); at != std::string::npos) text.erase(at, noise.size());
  if (const auto code = text.rfind("): "); code != std::string::npos) text.erase(code);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  text.erase(0, text.find_first_not_of(" :"));
  text.erase(text.find_last_not_of(" .") + 1);
  return text;
}

dll::shared_library& map(const std::string& path, std::string_view subject) {
  std::error_code problem;
  if (!fs::exists(path, problem)) refuse(subject, "cannot be loaded: there is no such file");
  if (fs::is_directory(path, problem)) refuse(subject, "cannot be loaded: it is a folder");
  if (fs::equivalent(path, dll::program_location(), problem))
    refuse(subject, "is portico's own executable, not a plugin");
  if (const std::string fault = image_fault(path); !fault.empty()) refuse(subject, fault + "; build or copy it again");
  const auto mode =
      dll::load_mode::rtld_now | dll::load_mode::rtld_local | static_cast<dll::load_mode::type>(loader_flags());
  dll::shared_library library;
  try {
    library.load(fs::path(path), mode);  // this overload throws: only its text has the loader's own words
  } catch (const std::exception& e) {
    refuse(subject, "cannot be loaded: " + loader_words(e.what()));
  }
  return keep(std::move(library));
}

const portico_plugin* ask(query_function* query, std::uint32_t major, std::string_view subject) {
  try {
    return query(major);
  } catch (...) {
    refuse(subject, "threw out of its portico_query, which must not happen");
  }
}

}  // namespace

namespace {

fs::path path_of(const config::settings& all, const std::string& name) {
  return fs::path(all.plugin_directory) / (name + dll::shared_library::suffix().string());
}

}  // namespace

std::string library_path(const config::settings& all, const config::plugin_section& section) {
  return section.library.empty() ? path_of(all, section.name).string() : section.library;
}

bool is_in_directory(const config::settings& all, const std::string& name) {
  std::error_code problem;
  return fs::path(name).filename() == name && fs::exists(path_of(all, name), problem);
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code problem;
  const fs::path suffix = dll::shared_library::suffix();
  fs::directory_iterator at(directory, problem);
  for (; !problem && at != fs::directory_iterator(); at.increment(problem))
    if (at->path().extension() == suffix) names.push_back(at->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

described load(const std::string& path, std::string_view subject) {
  dll::shared_library& library = map(path, subject);
  if (!library.has("portico_query")) refuse(subject, "is not a portico plugin: it does not export portico_query");
  query_function* const query = &library.get<query_function>("portico_query");
  if (const portico_plugin* table = ask(query, PORTICO_ABI_MAJOR, subject)) return read_description(table, subject);
  constexpr std::uint32_t known_majors = 16;
  for (std::uint32_t other = 0; other < known_majors; ++other)
    if (other != PORTICO_ABI_MAJOR && ask(query, other, subject))
      refuse(subject, "speaks another ABI major: " + std::to_string(other) + ", and this server speaks " +
                          std::to_string(PORTICO_ABI_MAJOR) + "; take the build of it for this version of portico");
  refuse(subject, "speaks another ABI major: its portico_query(" + std::to_string(PORTICO_ABI_MAJOR) +
                      ") returns NULL; take the build of it for this version of portico");
}

}  // namespace portico::plugin
