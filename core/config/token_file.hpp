// core/config/token_file.hpp - the bearer token in a file of its own, as systemd credentials and secret managers give
// it.
#pragma once
#include <string>

namespace portico::config {

struct token_from_file {
  std::string token;    // without blanks and line ends around it
  std::string error;    // why there is none, with the path and what to do; empty when there is one
  std::string warning;  // others may read the file
};

token_from_file read_token_file(const std::string& path);

}  // namespace portico::config
