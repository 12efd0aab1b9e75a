#include "core/plugin/image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace portico::plugin {
namespace {

// The program headers of a 64-bit file of this machine's byte order; nothing for any other.
std::vector<Elf64_Phdr> segments(std::ifstream& file, std::uint64_t size, bool* complete) {
  *complete = true;
  Elf64_Ehdr head{};
  if (size < sizeof head || !file.read(reinterpret_cast<char*>(&head), sizeof head)) return {};
  constexpr unsigned char here = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != here || head.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  std::vector<Elf64_Phdr> all(head.e_phnum);
  const std::uint64_t bytes = std::uint64_t{head.e_phnum} * sizeof(Elf64_Phdr);
  if (head.e_phoff > size || bytes > size - head.e_phoff) {
    *complete = false;
    return {};
  }
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  if (!file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(bytes))) return {};
  return all;
}

}  // namespace

std::string image_fault(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::uint64_t>(file.tellg());
  file.seekg(0);
  bool complete = true;
  const std::vector<Elf64_Phdr> all = segments(file, size, &complete);
  if (!complete)
    return "is truncated: it has " + std::to_string(size) + " bytes, and its list of segments lies beyond them";
  std::uint64_t end = 0;
  for (const Elf64_Phdr& s : all) {
    if (s.p_type != PT_LOAD) continue;
    if (s.p_filesz > UINT64_MAX - s.p_offset) return "is damaged: a segment ends beyond any file";
    end = std::max(end, s.p_offset + s.p_filesz);
  }
  if (end <= size) return {};
  return "is truncated: it has " + std::to_string(size) + " bytes, and its segments end at " + std::to_string(end);
}

unsigned loader_flags() noexcept { return 0; }

}  // namespace portico::plugin
