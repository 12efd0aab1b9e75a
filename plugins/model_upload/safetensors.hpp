// plugins/model_upload/safetensors.hpp - whether a file is a safetensors file, by the rules of the format's own reader.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace portico::model_upload {

// At most `size` bytes from `offset` into `out`; how many, 0 at the end.  May throw; that is passed on.
using file_reader = std::function<std::size_t(std::uint64_t offset, char* out, std::size_t size)>;

// Why it is none.  Texts are for people and hold no path; rule is one word for programs.
struct problem {
  std::string rule, message;
  std::string tensor;  // the name of the tensor at fault, perhaps cut; empty: none
};

constexpr std::uint64_t largest_header = 100'000'000;  // bytes; the format's own limit

// Reads the header piece by piece and none of the tensors' bytes.  Checked are: the header's length against the file
// before anything is made of it; the header as strict JSON (UTF-8, no repeated key where a key means something, whole
// numbers that fit, at most 127 levels); each tensor's dtype, shape and size; that the tensors follow each other
// without gap or overlap from the first byte behind the header to the last byte of the file.  Memory: 64 KiB, and 32
// bytes for each tensor. Nothing: the file is good.  May block.
std::optional<problem> check_safetensors(const file_reader&, std::uint64_t file_size);

}  // namespace portico::model_upload
