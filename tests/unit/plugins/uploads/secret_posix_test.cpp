#include "plugins/uploads/secret.hpp"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using portico::uploads::secret_in;

namespace {

struct folder : temporary_folder {
  std::string file() const { return of("secret"); }
};

std::string refusal(const std::string& path) {
  try {
    secret_in(path);
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a secret file that is not there is made, for its owner only, and kept") {
  const folder f;
  const std::string secret = secret_in(f.file());
  CHECK(secret.size() == 32);
  CHECK(secret_in(f.file()) == secret);
  CHECK(fs::file_size(f.file()) == 32);
  CHECK((fs::status(f.file()).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  CHECK(f.entries() == 1);
}

TEST_CASE("a secret file of another length is refused and named") {
  const folder f;
  for (const std::size_t size : {0u, 31u, 33u, 5000u}) {
    std::ofstream(f.file(), std::ios::binary | std::ios::trunc) << std::string(size, 'x');
    fs::permissions(f.file(), fs::perms::owner_read | fs::perms::owner_write);
    CHECK(refusal(f.file()).find(f.file()) != std::string::npos);
    CHECK(refusal(f.file()).find("32 bytes") != std::string::npos);
  }
}

TEST_CASE("a secret file that others can read is refused") {
  const folder f;
  secret_in(f.file());
  fs::permissions(f.file(), fs::perms::group_read, fs::perm_options::add);
  CHECK(refusal(f.file()).find("chmod 600") != std::string::npos);
}

TEST_CASE("a secret file in a folder that is not there, or that is a folder, is refused") {
  const folder f;
  CHECK(refusal(f.file() + "/nowhere/secret").find("No such file") != std::string::npos);
  fs::permissions(f.path, fs::perms::owner_all, fs::perm_options::replace);
  CHECK(refusal(f.path.string()).find("regular file") != std::string::npos);
}

TEST_CASE("starts at one time end with one secret") {
  const folder f;
  std::vector<std::string> got(8);
  std::vector<std::thread> threads;
  for (auto& slot : got) threads.emplace_back([&] { slot = secret_in(f.file()); });
  for (auto& t : threads) t.join();
  for (const auto& secret : got) CHECK(secret == got[0]);
}
