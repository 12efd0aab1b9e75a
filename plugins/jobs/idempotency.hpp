// plugins/jobs/idempotency.hpp - the Idempotency-Key header.
#pragma once
#include <cstddef>
#include <optional>
#include <portico/response.hpp>
#include <string>

#include <portico/abi/http.h>

namespace jobs {

// Nothing when there is no such header.  Throws portico::http_error 400 invalid_request when it is not 1 to 255
// characters, trimmed, or when there are two that differ.
std::optional<std::string> read_idempotency_key(const portico_field* headers, std::size_t count);

// 422: the key let another job through.
portico::http_error key_taken();

}  // namespace jobs
