// tests/config/golden.hpp - a golden file, and what core/config makes of its input.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/config/load.hpp"

namespace golden {

// The input is cut into blocks by lines "=== NAME": "builtin", "arguments" (one a line), "environment" (NAME=VALUE a
// line), and files by their path; portico.ini is what --config would name.  The expected output follows a line "---".
struct file {
  std::map<std::string, std::string> blocks;
  std::string input, expected;
};

file read(const std::string& path);
void rewrite(const std::string& path, const file&, const std::string& output);

// Loads in a fresh folder that is the working directory meanwhile: the settings that differ from the defaults, one a
// line, or the messages, each behind "error: ".
std::string output_of(const file&);

std::string text_of(const portico::config::program&);

}  // namespace golden
