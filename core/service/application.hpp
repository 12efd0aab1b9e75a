// core/service/application.hpp - the program: its command line and its commands.
#pragma once
#include <string>
#include <vector>

namespace portico::service {

// Where requests to stop the process come from; hosting.hpp has one for each system.
class stop_requests {
 public:
  // Returns when the process is asked to stop, or when end_wait was called.  One thread at a time.
  virtual void wait() = 0;
  virtual void end_wait() = 0;  // any thread

 protected:
  ~stop_requests() = default;
};

// Does what the arguments (without the program's name) say.  Serving ends at the first request to stop; a second one
// ends the process at once.  Returns the exit code.
int run_program(const std::vector<std::string>& arguments, stop_requests&);

}  // namespace portico::service
