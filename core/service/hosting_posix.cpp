#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "core/service/application.hpp"
#include "core/service/hosting.hpp"

namespace portico::service {
namespace {

// Taken by whoever waits, and by nobody else: they are blocked before there is a second thread, and threads inherit
// that.
class signals final : public stop_requests {
 public:
  signals() {
    sigemptyset(&taken_);
    for (int signal : {SIGTERM, SIGINT, SIGQUIT}) sigaddset(&taken_, signal);
    pthread_sigmask(SIG_BLOCK, &taken_, nullptr);
  }
  void wait() override {
    int which = 0;
    sigwait(&taken_, &which);
  }
  void end_wait() override { ::kill(::getpid(), SIGTERM); }

 private:
  sigset_t taken_{};
};

}  // namespace

int host(int count, char** arguments) {
  signals requests;
  std::signal(SIGPIPE, SIG_IGN);  // writing to what nobody reads any more is an error like others
  return run_program(std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count), requests);
}

}  // namespace portico::service
