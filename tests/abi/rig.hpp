// tests/abi/rig.hpp - the real core on loopback ports, with plugins of the test's choice, and what it logged.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/server_settings.hpp"
#include "core/http/server.hpp"

namespace rig {

using namespace std::chrono_literals;

// Where the fixtures were built; "hello" becomes the path of that library.
std::string library(std::string_view fixture);

// Every log line of the process since the last clear, as "WARNING plugin.x: text".
std::vector<std::string> log_lines();
void clear_log();
void log_to_stderr();  // from now on; for children whose end is the test
bool logged(std::string_view part);
// Waits up to 10 s for a line.
bool logs_soon(std::string_view part);
// Whether f becomes true within 10 s.
bool eventually(const std::function<bool()>& f);

class server {
 public:
  explicit server(std::size_t loops = 4);
  ~server();  // stops, if it has not been stopped
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  // Before start.  The section says it stands at "test.ini:N", N being the number of the call.
  server& enable(const std::string& name, const std::string& fixture,
                 const std::map<std::string, std::string>& keys = {}, bool optional = false);
  portico::config::settings settings;
  portico::http::limits limits;
  std::string token;

  // Empty, or the refusal.
  std::string start();
  // Drains for at most that long, then stops the plugins.  Whether all let go; false also if start failed to.
  bool stop(std::chrono::milliseconds drain = 0ms, std::chrono::milliseconds patience = 5s);
  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:PORT"

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rig
