// core/service/process.hpp - what the service asks the system about its own process.  process_posix.cpp and
// process_windows.cpp implement it.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace portico::service {

// The folder of the running program's file, links resolved.  Empty when the system does not tell.
std::string program_folder();

// The variables whose name begins with PORTICO_.
std::vector<std::pair<std::string, std::string>> portico_environment();

// The ini that is read when nothing names one.
std::string default_ini_path();

}  // namespace portico::service
