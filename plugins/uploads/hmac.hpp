// plugins/uploads/hmac.hpp - HMAC-SHA256 (RFC 2104), random bytes, and a comparison that tells nothing by its time.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace portico::uploads {

// 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);

// True when both are equal.  The time depends on the lengths only.
bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

// From the system's generator; std::exception when it has none.
std::string random_bytes(std::size_t count);

// A random (version 4) UUID in canonical lower-case form.
std::string random_uuid();

}  // namespace portico::uploads
