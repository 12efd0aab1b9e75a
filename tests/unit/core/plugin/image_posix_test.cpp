#include <catch2/catch.hpp>

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "core/plugin/image.hpp"

using portico::plugin::image_fault;

namespace {

struct file {
  explicit file(const std::string& bytes)
      : path((std::filesystem::temp_directory_path() / ("portico-image-" + std::to_string(std::random_device{}())))
                 .string()) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~file() { std::filesystem::remove(path); }
  std::string path;
};

// A 64-bit ELF head with one loadable segment of that place and size, then `behind` bytes.
std::string elf(std::uint64_t offset, std::uint64_t size, std::size_t behind) {
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  head.e_phoff = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_offset = offset;
  segment.p_filesz = size;
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  out.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return out.append(behind, 'x');
}
std::string fault_of(const std::string& bytes) {
  const file f(bytes);
  return image_fault(f.path);
}

}  // namespace

TEST_CASE("a whole image has no fault") {
  CHECK(fault_of(elf(0, 120, 0)).empty());
  CHECK(fault_of(elf(64, 100, 100)).empty());
  CHECK(image_fault("/proc/self/exe").empty());
}

TEST_CASE("an image that ends before its segments do is truncated") {
  CHECK(fault_of(elf(0, 121, 0)) == "is truncated: it has 120 bytes, and its segments end at 121");
  CHECK(fault_of(elf(4096, 100, 10)) == "is truncated: it has 130 bytes, and its segments end at 4196");
  CHECK(fault_of(elf(0, 1, 0).substr(0, 100)) ==
        "is truncated: it has 100 bytes, and its list of segments lies beyond them");
  CHECK(fault_of(elf(UINT64_MAX, 2, 0)) == "is damaged: a segment ends beyond any file");
}

TEST_CASE("what is no image, or one for another machine, is left to the loader") {
  CHECK(fault_of("").empty());
  CHECK(fault_of("a text").empty());
  CHECK(fault_of(std::string(200, 'x')).empty());
  std::string small = elf(0, 5000, 0);
  small[EI_CLASS] = ELFCLASS32;
  CHECK(fault_of(small).empty());
  CHECK(image_fault("/no/such/file").empty());
}
