#include "core/config/ini.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/base/text.hpp"
#include "core/config/schema.hpp"

namespace portico::config {
namespace {

namespace fs = std::filesystem;

// Lower-case words: letters, digits and _; flags are keys too, so - is one, and . parts a section's name.
bool is_name(std::string_view text, bool dots) {
  if (text.empty()) return false;
  for (char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!word && !(dots && c == '.')) return false;
  }
  return true;
}

std::string bad_character(std::string_view line) {
  if (!base::is_utf8(line)) return "bytes that are not UTF-8; save the file as UTF-8";
  for (char c : line)
    if (base::is_control(c) && c != '\t') return "a control character; allowed: text and tabs";
  return {};
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) && matches(pattern.substr(1), name.substr(1));
}

class reader {
 public:
  reader(std::string_view name, std::string_view folder, bool may_include, ini_document& document,
         std::vector<std::string>& problems)
      : name_(name), folder_(folder), may_include_(may_include), document_(document), problems_(problems) {}

  void read(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_;
      read_line(line);
    }
    for (const auto& [pattern, where] : includes_) include(pattern, where);
  }

 private:
  std::string where() const { return name_ + ":" + std::to_string(line_); }
  void problem(std::string_view text) { problems_.push_back(where() + ": " + std::string(text)); }

  void read_line(std::string_view line) {
    if (const std::string bad = bad_character(line); !bad.empty()) return problem("the line holds " + bad);
    line = base::trim(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') return;
    if (line[0] == '[') return open_section(line);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      return problem("the line has no \"=\"; allowed: key = value, [section], or a comment that begins with # or ;");
    add_entry(base::trim(line.substr(0, equals)), base::trim(line.substr(equals + 1)));
  }

  void open_section(std::string_view line) {
    section_ = npos;
    in_section_ = true;
    if (line.back() != ']') return problem("a section begins with [ and must end with ] and nothing behind it");
    const std::string_view name = base::trim(line.substr(1, line.size() - 2));
    if (!is_name(name, true))
      return problem("[" + std::string(name) +
                     "] is not a section name; allowed: lower-case letters, digits, _ and dots");
    if (const auto seen = std::find(own_sections_.begin(), own_sections_.end(), name); seen != own_sections_.end())
      problem("section [" + std::string(name) + "] is in this file twice; put its keys together");
    own_sections_.emplace_back(name);
    for (std::size_t i = 0; i < document_.sections.size(); ++i)
      if (document_.sections[i].name == name) section_ = i;
    if (section_ != npos) return;
    section_ = document_.sections.size();
    document_.sections.push_back({std::string(name), where(), {}});
  }

  void add_entry(std::string_view key, std::string_view value) {
    if (!is_name(key, false))
      return problem(key.empty()
                         ? std::string("a key is missing before \"=\"")
                         : "\"" + std::string(key) + "\" is not a key; allowed: lower-case letters, digits and _");
    if (!value.empty() && value[0] == '"') {
      if (value.size() < 2 || value.back() != '"')
        return problem("the value of \"" + std::string(key) + "\" begins with a quote that is not closed");
      value = value.substr(1, value.size() - 2);
    }
    if (!in_section_) return add_global(key, value);
    if (section_ == npos) return;  // its section was refused already
    ini_section& section = document_.sections[section_];
    for (const ini_entry& e : section.entries)
      if (e.key == key)
        return problem("[" + section.name + "] \"" + std::string(key) + "\" is already set at " + e.where +
                       "; keep one of them");
    section.entries.push_back({std::string(key), std::string(value), where()});
  }

  void add_global(std::string_view key, std::string_view value) {
    if (key != "include")
      return problem("\"" + std::string(key) + "\" stands before the first section; allowed there: include");
    if (!may_include_) return problem("an included file cannot include another; put the include into the first file");
    const config::value list = parse_value(kind::list, value);
    if (!list || list.items.empty())
      return problem("include names no file; allowed: paths between commas, such as conf.d/*.ini");
    for (const std::string& pattern : list.items) includes_.emplace_back(pattern, where());
  }

  void include(const std::string& pattern, const std::string& where) {
    const fs::path full = absolute_path(pattern, folder_);
    const std::string last = full.filename().string();
    if (full.parent_path().string().find_first_of("*?") != std::string::npos) {
      problems_.push_back(where + ": include = " + pattern +
                          " has * or ? in a folder; allowed: in the file's name only");
      return;
    }
    if (last.find_first_of("*?") == std::string::npos) return read_included(full.string());
    std::vector<std::string> found;
    std::error_code ignored;  // a folder that is not there holds no file
    for (const fs::directory_entry& entry : fs::directory_iterator(full.parent_path(), ignored)) {
      const std::string file = entry.path().filename().string();
      if (file[0] != '.' && matches(last, file) && entry.is_regular_file(ignored))
        found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    for (const std::string& path : found) read_included(path);
  }

  void read_included(const std::string& path);

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::string name_, folder_;
  bool may_include_;
  ini_document& document_;
  std::vector<std::string>& problems_;
  int line_ = 0;
  bool in_section_ = false;
  std::size_t section_ = npos;
  std::vector<std::string> own_sections_;
  std::vector<std::pair<std::string, std::string>> includes_;  // pattern, place
};

bool read_whole(const std::string& path, std::string& text, std::vector<std::string>& problems) {
  constexpr std::uintmax_t largest = 1 << 20;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  std::string why;
  if (error || !fs::exists(status))
    why = fs::exists(status) || error != std::errc::no_such_file_or_directory ? error.message() : "no such file";
  else if (!fs::is_regular_file(status))
    why = "not a regular file";
  else if (fs::file_size(path, error) > largest)
    why = "larger than 1 MiB";
  std::ifstream in;
  if (why.empty()) {
    in.open(path, std::ios::binary);
    if (!in) why = "not readable";
  }
  if (why.empty()) {
    text.assign(std::istreambuf_iterator<char>(in), {});
    return true;
  }
  problems.push_back(path + ": cannot be read: " + why);
  return false;
}

void reader::read_included(const std::string& path) {
  std::string text;
  if (read_whole(path, text, problems_)) reader(path, "", false, document_, problems_).read(text);
}

}  // namespace

void read_ini_text(std::string_view text, std::string_view name, std::string_view folder, ini_document& document,
                   std::vector<std::string>& problems) {
  reader(name, folder, true, document, problems).read(text);
}

void read_ini_file(const std::string& path, ini_document& document, std::vector<std::string>& problems) {
  std::string text;
  if (!read_whole(path, text, problems)) return;
  std::error_code ignored;
  const std::string folder = fs::absolute(path, ignored).parent_path().string();
  reader(path, folder, true, document, problems).read(text);
}

}  // namespace portico::config
