// core/service/exit_code.hpp - how the program ends.  Documented in docs/operators.md.
#pragma once

namespace portico::service {

enum exit_code : int {
  exit_good = 0,     // served until it was told to stop; help, version, a good check
  exit_fault = 1,    // an internal fault, or ended at once by a second signal
  exit_usage = 2,    // the command line, the configuration, or `check` found something; refused to bind
  exit_plugin = 3,   // a plugin could not be used
  exit_address = 4,  // the address could not be listened on
};

}  // namespace portico::service
