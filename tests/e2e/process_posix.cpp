#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace e2e {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Starts portico with standard output and error in a file; its pid.
int spawn(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<std::string> words = {PORTICO_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv, env;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (char** variable = environ; *variable; ++variable)
    if (std::string(*variable).compare(0, 8, "PORTICO_") != 0) env.push_back(*variable);
  env.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  int pid = -1;
  const int failed = posix_spawn(&pid, PORTICO_BINARY, &files, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&files);
  if (failed) throw std::runtime_error("cannot start " PORTICO_BINARY);
  return pid;
}

// The exit code as a shell tells it; -1: still running.
int reap(int pid, std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  for (;;) {
    int status = 0;
    const int got = waitpid(pid, &status, WNOHANG);
    if (got == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (got < 0 && errno != EINTR) throw std::runtime_error("waitpid failed");
    if (clock::now() >= until) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string unique_file(const std::string& name) {
  static int count = 0;
  return temporary_folder() + '/' + std::to_string(++count) + '-' + name;
}

}  // namespace

std::string temporary_folder() {
  struct folder {
    folder() {
      std::string pattern = (fs::temp_directory_path() / "portico-e2e-XXXXXX").string();
      if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
      path = pattern;
    }
    ~folder() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
    std::string path;
  };
  static const folder here;
  return here.path;
}

finished run_portico(const std::vector<std::string>& arguments, std::chrono::milliseconds within) {
  const std::string log = unique_file("run.log");
  const int pid = spawn(arguments, log);
  const int code = reap(pid, within);
  if (code < 0) {
    ::kill(pid, SIGKILL);
    reap(pid, std::chrono::seconds(5));
    throw std::runtime_error("portico does not end; it said:\n" + read_file(log));
  }
  return {code, read_file(log)};
}

process::process(const std::string& name, const std::string& ini, const std::vector<std::string>& more_arguments)
    : name_(name), folder_(unique_file(name)) {
  fs::create_directory(folder_);
  std::ofstream(folder_ + "/portico.ini") << ini;
  std::vector<std::string> arguments = {
      "--config", folder_ + "/portico.ini", "--set", "server.port=0", "--set", "plugins.directory=" PORTICO_PLUGINS};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  pid_ = spawn(arguments, folder_ + "/log");
  const auto until = clock::now() + std::chrono::seconds(30);
  constexpr const char* ready = "listening on http://";
  while (clock::now() < until) {
    const std::string text = log();
    const std::size_t at = text.find(ready), end = text.find('\n', at);
    if (at != std::string::npos && end != std::string::npos) {
      const std::size_t blank = text.find(' ', at + std::string(ready).size());
      port_ = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':', blank) + 1)));
      return;
    }
    if (reap(pid_, std::chrono::milliseconds(2)) >= 0) {
      pid_ = -1;
      throw std::runtime_error(name_ + " ended before it listened:\n" + log());
    }
  }
  kill();
  throw std::runtime_error(name_ + " does not listen:\n" + log());
}

process::~process() {
  if (pid_ < 0) return;
  if (std::uncaught_exceptions())
    kill();
  else
    stop();
}

std::string process::log() const { return read_file(folder_ + "/log"); }

void process::signal(int number) const { ::kill(pid_, number); }

int process::wait(std::chrono::milliseconds within) {
  if (pid_ < 0) return -1;
  const int code = reap(pid_, within);
  if (code >= 0) pid_ = -1;
  return code;
}

void process::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  reap(pid_, std::chrono::seconds(10));
  pid_ = -1;
}

void process::stop() {
  if (pid_ < 0) return;
  signal(SIGTERM);
  const int code = wait(std::chrono::seconds(15));
  if (code < 0) kill();
  judge(code);
}

void process::judge(int code) const {
  const std::string text = log();
  INFO(name_ << ":\n" << text);
  CHECK(code == 0);
  for (const char* report :
       {"AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:", "terminate called"})
    CHECK(text.find(report) == std::string::npos);
  if (!errors_allowed_) CHECK(text.find(" ERROR ") == std::string::npos);
}

std::size_t process::resident_kb() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, 6, "VmRSS:") == 0) return std::stoul(line.substr(6));
  return 0;
}

std::size_t process::descriptors() const {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid_) + "/fd")) ++n;
  return n;
}

}  // namespace e2e
