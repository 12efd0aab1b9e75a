// A store in a folder of a test's own, gone afterwards.
#pragma once
#include <Poco/Data/Session.h>

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "plugins/job_store_sqlite/database.hpp"

struct folder {
  std::filesystem::path path;
  std::vector<std::string> reports;

  folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "portico-store-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }

  std::filesystem::path file() const { return job_store::file_in(path.string()); }
  Poco::Data::Session open() {
    return job_store::open_store(path.string(), job_store::durability::normal,
                                 [this](const std::string& text) { reports.push_back(text); });
  }
};
