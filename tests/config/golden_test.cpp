#include "golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

TEST_CASE("what an operator writes gives the settings or the messages of its golden file") {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PORTICO_GOLDEN_CASES))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= 30);
  for (const std::string& path : paths) {
    DYNAMIC_SECTION(std::filesystem::path(path).stem().string()) {
      const golden::file f = golden::read(path);
      const std::string output = golden::output_of(f);
      if (std::getenv("UPDATE_GOLDEN") != nullptr)
        golden::rewrite(path, f, output);
      else
        CHECK(output == f.expected);
    }
  }
}
