// core/service/server.hpp - the whole server of one configuration: loops, workers, upstreams, plugins, gate, sockets.
#pragma once
#include <chrono>
#include <memory>

#include "core/config/server_settings.hpp"
#include "core/service/exit_code.hpp"

namespace portico::service {

class server {
 public:
  explicit server(config::settings);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  // Binds, starts the plugins, serves until stop(), and takes all down again.  With settings::only it neither binds nor
  // serves: that plugin's start is all.  The calling thread turns loop 0; the others have threads of their own.  What
  // goes wrong is in the log.  Once.
  exit_code run();

  // Ends run(): no new connections, `drain_timeout` for requests that run, then plugins are stopped and the rest is cut
  // off.  Any thread, also before run() and again.
  void stop();

  // After stop(): when run() has not returned by then, a plugin holds loop 0 and it never will.
  std::chrono::milliseconds longest_stop() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace portico::service
