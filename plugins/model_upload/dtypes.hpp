// plugins/model_upload/dtypes.hpp - the element types a safetensors file may hold.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace portico::model_upload {

// Bits of one element; nothing: no such type.  The list is the Dtype enum of the format's own reader (compared with
// 0.8.0, 2026); new types are added there now and then.
inline std::optional<std::uint64_t> bits_of(std::string_view dtype) noexcept {
  struct entry {
    std::string_view name;
    std::uint64_t bits;
  };
  static constexpr entry table[] = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
      {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const entry& e : table)
    if (e.name == dtype) return e.bits;
  return std::nullopt;
}

}  // namespace portico::model_upload
