#include <string>
#include <utility>
#include <vector>

#include <Poco/Util/ServerApplication.h>

#include "core/service/application.hpp"
#include "core/service/hosting.hpp"

namespace portico::service {
namespace {

class windows_process final : public Poco::Util::ServerApplication, public stop_requests {
 public:
  explicit windows_process(std::vector<std::string> arguments) : own_arguments_(std::move(arguments)) {}
  void wait() override { waitForTerminationRequest(); }
  void end_wait() override { terminate(); }

 protected:
  int main(const std::vector<std::string>&) override { return run_program(own_arguments_, *this); }

 private:
  const std::vector<std::string> own_arguments_;
};

}  // namespace

int host(int count, char** arguments) {
  windows_process process(std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count));
  return process.run(1, arguments);  // POCO reads no options: which flags there are is written in the ini
}

}  // namespace portico::service
