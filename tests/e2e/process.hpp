// tests/e2e/process.hpp - one portico process: started, found, stopped, judged.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace e2e {

// How a program that was run to its end went.
struct finished {
  int code = -1;       // 128 + n when signal n ended it
  std::string output;  // standard output and standard error together
};

// Runs portico with these arguments to its end, which must come within the time.
finished run_portico(const std::vector<std::string>& arguments,
                     std::chrono::milliseconds within = std::chrono::seconds(20));

// A server that runs.  The constructor returns when it listens; throws, with its log, when it does not come to that.
// The destructor stops it; a test in which it did not end well, or logged what it should not, fails.
class process {
 public:
  // ini: the configuration, but for port 0 and the plugin directory, which are added.
  process(const std::string& name, const std::string& ini, const std::vector<std::string>& more_arguments = {});
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + authority(); }
  int pid() const noexcept { return pid_; }
  std::string log() const;
  // ERROR lines in the log are expected.
  void allow_errors() noexcept { errors_allowed_ = true; }

  void signal(int number) const;
  // Waits for the end; the exit code, 128 + n when signal n ended it, -1 when it still runs.
  int wait(std::chrono::milliseconds within);
  // SIGTERM and the end.  CHECKs exit code 0 and the log.
  void stop();
  void kill();
  // Kilobytes of memory, and open descriptors, now.
  std::size_t resident_kb() const;
  std::size_t descriptors() const;

 private:
  void judge(int code) const;
  std::string name_, folder_;
  int pid_ = -1;
  std::uint16_t port_ = 0;
  bool errors_allowed_ = false;
};

// A folder for the life of the test program.
std::string temporary_folder();

}  // namespace e2e
