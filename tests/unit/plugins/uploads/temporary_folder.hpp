// A folder of a test's own, gone afterwards.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "plugins/uploads/hmac.hpp"

struct temporary_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("portico-test-" + portico::uploads::random_uuid());
  temporary_folder() {
    std::filesystem::create_directory(path);
    path = std::filesystem::canonical(path);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path); }

  std::string of(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << content;
    return of(name);
  }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator());
  }
};
