#include "golden.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace golden {
namespace {

namespace fs = std::filesystem;
using namespace portico::config;

// A folder that goes with its contents, and the working directory while it lives.
class scratch_folder {
 public:
  scratch_folder() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "portico-golden-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = fs::canonical(name);
    fs::current_path(path_);
  }
  ~scratch_folder() {
    fs::current_path(before_);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path before_, path_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

// Lines of "name = value", without those that say the default.
class listing {
 public:
  template <class T>
  void add(const std::string& name, const T& value, const T& fallback) {
    if (!(value == fallback)) out_ << name << " = " << value << "\n";
  }
  void add(const std::string& name, const std::vector<std::string>& items, const std::vector<std::string>& fallback) {
    if (items == fallback) return;
    out_ << name << " =";
    for (const std::string& item : items) out_ << " <" << item << ">";
    out_ << "\n";
  }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

void add_server(listing& l, const server_section& s) {
  const server_section d;
  l.add("server.host", s.host, d.host);
  l.add("server.port", s.port, d.port);
  l.add("server.threads", s.threads, d.threads);
  l.add("server.workers", s.workers, d.workers);
  l.add("server.token", s.token, d.token);
  l.add("server.allow_insecure_bind", s.allow_insecure_bind, d.allow_insecure_bind);
  l.add("server.cors", s.cors, d.cors);
  l.add("server.hosts", s.hosts, d.hosts);
  l.add("server.log_level", s.log_level, d.log_level);
  l.add("server.token_file", s.token_file, d.token_file);
  l.add("server.access_log", s.access_log, d.access_log);
  l.add("server.server_timing", s.server_timing, d.server_timing);
  l.add("server.forwarded", s.forwarded, d.forwarded);
  l.add("server.requests_per_client", s.requests_per_client, d.requests_per_client);
  l.add("server.burst_per_client", s.burst_per_client, d.burst_per_client);
  l.add("server.connections_per_client", s.connections_per_client, d.connections_per_client);
  l.add("server.max_body", s.max_body, d.max_body);
  l.add("server.drain_timeout", s.drain_timeout_ms, d.drain_timeout_ms);
  l.add("server.head_timeout", s.head_timeout_ms, d.head_timeout_ms);
  l.add("server.keep_alive", s.keep_alive_ms, d.keep_alive_ms);
  l.add("server.body_timeout", s.body_timeout_ms, d.body_timeout_ms);
  l.add("server.write_timeout", s.write_timeout_ms, d.write_timeout_ms);
  l.add("server.request_timeout", s.request_timeout_ms, d.request_timeout_ms);
  l.add("server.max_connections", s.max_connections, d.max_connections);
}

void add_upstream(listing& l, const upstream_section& u) {
  const upstream_section d;
  const std::string name = "upstream." + u.name;
  l.add(name + ".url", u.url, d.url);
  l.add(name + ".connect_timeout", u.connect_timeout_ms, d.connect_timeout_ms);
  l.add(name + ".response_timeout", u.response_timeout_ms, d.response_timeout_ms);
  l.add(name + ".idle_timeout", u.idle_timeout_ms, d.idle_timeout_ms);
  l.add(name + ".max_idle", u.max_idle, d.max_idle);
}

void add_plugin(listing& l, const plugin_section& p) {
  const std::string name = "plugin." + p.name;
  l.add(name, std::string("enabled by " + p.where), std::string());
  l.add(name + ".library", p.library, std::string());
  l.add(name + ".optional", p.optional, false);
  for (const auto& [key, s] : p.keys)
    l.add(name + "." + key, s.value + " (" + s.where + ", " + s.base + ")", std::string());
}

}  // namespace

file read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream whole;
  whole << in.rdbuf();
  file out;
  std::string text = whole.str();
  const std::size_t dashes = text.find("\n---\n");
  if (dashes == std::string::npos) throw std::runtime_error(path + " has no line of three dashes");
  out.input = text.substr(0, dashes + 1);
  out.expected = text.substr(dashes + 5);
  std::string* block = nullptr;
  // "\r" and "\0" are written so, and "\x.." for bytes, since editors hide or mend them.
  for (const std::string& line : lines_of(out.input)) {
    if (line.starts_with("=== "))
      block = &out.blocks[line.substr(4)];
    else if (block == nullptr)
      continue;  // what the case is about
    else if (line.ends_with("\\no newline"))
      *block += line.substr(0, line.size() - 11);
    else
      *block += replaced(replaced(replaced(replaced(line, "\\r", "\r"), "\\0", std::string(1, '\0')), "\\xff", "\xff"),
                         "\\xbom", "\xef\xbb\xbf") +
                "\n";
  }
  return out;
}

void rewrite(const std::string& path, const file& f, const std::string& output) {
  std::ofstream(path, std::ios::binary) << f.input << "---\n" << output;
}

std::string text_of(const program& p) {
  constexpr const char* commands[] = {"run", "check", "plugins", "help", "version", "once"};
  listing l;
  const settings& s = p.config;
  l.add("command", std::string(commands[static_cast<int>(p.what)]), std::string("run"));
  l.add("only", s.only, std::string());
  add_server(l, s.server);
  for (const upstream_section& u : s.upstreams) add_upstream(l, u);
  l.add("plugins.directory", s.plugin_directory, std::string("/default/plugins"));
  for (const plugin_section& plugin : s.plugins) add_plugin(l, plugin);
  for (const std::string& warning : s.warnings) l.add("warning", warning, std::string());
  return l.text();
}

std::string output_of(const file& f) {
  const scratch_folder folder;
  sources from;
  from.working_directory = folder.path();
  from.plugin_directory = "/default/plugins";
  for (const auto& [name, text] : f.blocks) {
    if (name == "builtin")
      from.builtin = text;
    else if (name == "arguments")
      from.arguments = lines_of(text);
    else if (name == "environment")
      for (const std::string& line : lines_of(text))
        from.environment.emplace_back(line.substr(0, line.find('=')), line.substr(line.find('=') + 1));
    else {
      fs::create_directories(fs::path(folder.path()) / fs::path(name).parent_path());
      std::ofstream(name, std::ios::binary) << text;
    }
  }
  if (f.blocks.contains("portico.ini")) from.default_ini = "portico.ini";
  std::string out;
  try {
    out = text_of(load(from));
  } catch (const invalid& bad) {
    for (const std::string& problem : bad.problems()) out += "error: " + problem + "\n";
  }
  return replaced(out, folder.path(), "FOLDER");
}

}  // namespace golden
