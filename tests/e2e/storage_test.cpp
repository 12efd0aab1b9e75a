// Uploads onto a disk that is too small for them.
#include <sched.h>
#include <sys/mount.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "form.hpp"
#include "stage.hpp"

using namespace e2e;
namespace fs = std::filesystem;

namespace {

// A folder on a file system of 4 MiB that only this program and its children see; empty where that cannot be had.
fs::path small_disk() {
  static const fs::path made = [] {
    const fs::path at = fs::path(temporary_folder()) / "small";
    fs::create_directory(at);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=4m") != 0) {
      std::cerr << "SKIP: no right to mount a small disk, so nothing is filled up\n";
      return fs::path();
    }
    return at;
  }();
  return made;
}

std::size_t files_below(const fs::path& folder) {
  std::size_t n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) n += entry.is_regular_file();
  return n;
}

// An upload whose length nobody knows beforehand.
answer upload_in_chunks(const process& to, const std::string& body) {
  constexpr std::size_t piece = 0x10000;
  raw_socket socket(to.port());
  socket.send("POST /api/v2/assets HTTP/1.1\r\nHost: " + to.authority() +
              "\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n");
  try {
    for (std::size_t at = 0; at < body.size(); at += piece) {
      const std::string part = body.substr(at, piece);
      std::ostringstream size;
      size << std::hex << part.size();
      socket.send(size.str() + "\r\n" + part + "\r\n");
    }
    socket.send("0\r\n\r\n");
  } catch (const std::runtime_error&) {  // refused before the end
  }
  return socket.receive_answer("POST");
}

std::string model_of(std::size_t size) {
  const std::string n = std::to_string(size);
  const std::string header = R"({"a":{"dtype":"U8","shape":[)" + n + R"(],"data_offsets":[0,)" + n + "]}}";
  std::string out(8, '\0');
  out[0] = static_cast<char>(header.size());
  return out + header + std::string(size, 'm');
}

}  // namespace

TEST_CASE("a disk that fills up in the middle of an upload is 507, leaves nothing behind, and hurts nobody else") {
  const fs::path disk = small_disk();
  if (disk.empty()) return;
  const stage s("[plugin.uploads]\nspool = " + (disk / "spool").string() + "\n");
  const std::string large = form().field("file_path", "big.bin").file(std::string(8'000'000, 'x')).body();
  for (int i = 0; i < 2; ++i) {
    const answer a = upload_in_chunks(s.portico, large);
    INFO(a.body);
    CHECK(outcome(a) == "507 insufficient_storage");
    CHECK(a.body.find(disk.string()) == std::string::npos);
    CHECK(s.get("/api/v2/health").status == 200);
  }
  CHECK(eventually([&] { return fs::space(disk).available > 3'500'000; }));
  CHECK(outcome(upload(s.port(), std::string(3'000'000, 'y'), "small.bin")) == "201");
  CHECK(fs::is_empty(disk / "spool"));
}

TEST_CASE("a model that does not fit beside the others is 507, and nothing of it stays") {
  const fs::path disk = small_disk();
  if (disk.empty()) return;
  const fs::path base = disk / "comfy", elsewhere = fs::path(temporary_folder()) / "spool-elsewhere";
  fs::create_directories(base / "models/checkpoints");
  const stage s("[plugins]\nenabled = health, jobs, model_upload, uploads\n[plugin.model_upload]\nbase_dir = " +
                base.string() + "\n[plugin.uploads]\nspool = " + elsewhere.string() + "\n");
  const answer a = upload(s.port(), model_of(6'000'000), "models/checkpoints/big.safetensors");
  INFO(a.body);
  CHECK(outcome(a) == "507 insufficient_storage");
  CHECK(a.body.find(disk.string()) == std::string::npos);
  CHECK(files_below(base) == 0);
  CHECK(outcome(upload(s.port(), model_of(1'000'000), "models/checkpoints/small.safetensors")) == "201");
  CHECK(files_below(base) == 1);
}
