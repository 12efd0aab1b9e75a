#include "core/service/application.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/config/load.hpp"
#include "core/plugin/manager.hpp"
#include "core/service/builtin.hpp"
#include "core/service/exit_code.hpp"
#include "core/service/listing.hpp"
#include "core/service/process.hpp"
#include "core/service/server.hpp"

namespace portico::service {
namespace {

namespace fs = std::filesystem;

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

// One line for each problem, so that tools can take them apart.
void print_problems(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += "portico: " + problem + "\n";
  print(stderr, text);
}

// Where plugins are when nobody says so: beside an installed program, else in the tree it was built in.
std::string default_plugin_directory() {
  const fs::path bin = program_folder();
  const std::string installed = (bin / fs::path(plugins_from_bin)).lexically_normal().string();
  const std::string built = (bin.parent_path() / "plugins").string();
  std::error_code ignored;
  return !fs::is_directory(installed, ignored) && fs::is_directory(built, ignored) ? built : installed;
}

config::sources sources_of(const std::vector<std::string>& arguments) {
  config::sources out;
  out.builtin = default_ini;
  out.default_ini = default_ini_path();
  out.environment = portico_environment();
  out.arguments = arguments;
  std::error_code ignored;
  out.working_directory = fs::current_path(ignored).string();
  out.plugin_directory = default_plugin_directory();
  return out;
}

// Hands the first request to stop to the server; a second one ends the process at once.  So does time, when a plugin
// that holds loop 0 keeps the server from stopping; the process ends with that code then.
class stop_waiter {
 public:
  stop_waiter(server& s, stop_requests& requests, exit_code cut_off)
      : server_(s), requests_(requests), cut_off_(cut_off), thread_([this] { wait(); }) {}
  ~stop_waiter() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    requests_.end_wait();
    thread_.join();
  }
  stop_waiter(const stop_waiter&) = delete;
  stop_waiter& operator=(const stop_waiter&) = delete;

 private:
  void wait() {
    requests_.wait();
    if (is_over()) return;
    server_.stop();
    std::thread last_resort([this] {
      std::unique_lock lock(mutex_);
      if (ended_.wait_for(lock, server_.longest_stop(), [this] { return over_; })) return;
      base::log(base::level::error, "portico", "a plugin holds the loop that would stop it; ending without it");
      std::_Exit(cut_off_);
    });
    requests_.wait();
    if (!is_over()) std::_Exit(exit_fault);
    last_resort.join();
  }
  bool is_over() {
    const std::lock_guard lock(mutex_);
    return over_;
  }

  server& server_;
  stop_requests& requests_;
  const exit_code cut_off_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

int serve(const config::settings& settings, stop_requests& requests) {
  server s(settings);
  const stop_waiter waiter(s, requests, exit_good);
  return s.run();
}

// A command of a plugin's: its start is what there is to do.  Cut off in it, it is not done.
int start_only(const config::settings& settings, stop_requests& requests) {
  server s(settings);
  const stop_waiter waiter(s, requests, exit_fault);
  const exit_code code = s.run();
  if (code == exit_good) print(stdout, "done\n");
  return code;
}

int check(const config::settings& settings) {
  for (const std::string& warning : settings.warnings) print(stderr, "portico: warning: " + warning + "\n");
  try {
    plugin::check(settings);
  } catch (const plugin::refusal& refused) {
    std::vector<std::string> problems;
    for (std::string_view rest = refused.what(); !rest.empty();) problems.emplace_back(base::cut(rest, '\n'));
    print_problems(problems);
    return exit_usage;
  }
  const std::string source = settings.ini_path.empty() ? "the built-in default" : settings.ini_path;
  print(stdout, source + " is good; plugins enabled: " + std::to_string(settings.plugins.size()) + "\n");
  return exit_good;
}

int list_plugins(const config::settings& settings) {
  const std::vector<plugin::description> found = plugin::describe_all(settings);
  print(stdout, plugins_text(found, settings.plugin_directory));
  return exit_good;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, stop_requests& requests) {
  try {
    const config::program program = config::load(sources_of(arguments));
    switch (program.what) {
      case config::command::help:
        print(stdout, program.help);
        return exit_good;
      case config::command::version:
        print(stdout, "portico " + std::string(version) + "\n");
        return exit_good;
      case config::command::check:
        return check(program.config);
      case config::command::plugins:
        return list_plugins(program.config);
      case config::command::run:
        return serve(program.config, requests);
      case config::command::once:
        return start_only(program.config, requests);
    }
  } catch (const config::invalid& bad) {
    print_problems(bad.problems());
    return exit_usage;
  } catch (const std::exception& fault) {
    print_problems({std::string("internal fault: ") + fault.what()});
  }
  return exit_fault;
}

}  // namespace portico::service
