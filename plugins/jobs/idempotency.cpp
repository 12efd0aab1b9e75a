#include "plugins/jobs/idempotency.hpp"

#include <portico/response.hpp>
#include <string_view>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"

namespace jobs {
namespace {

constexpr std::size_t longest = 255;

std::size_t characters(std::string_view s) noexcept {
  std::size_t n = 0;
  for (; !s.empty(); ++n) {
    const std::size_t sequence = comfy::json::utf8_sequence(s);
    s.remove_prefix(sequence ? sequence : 1);
  }
  return n;
}

std::string_view trim(std::string_view s) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

portico::http_error bad(const char* message) { return portico::http_error(400, comfy::code::invalid_request, message); }

}  // namespace

std::optional<std::string> read_idempotency_key(const portico_field* headers, std::size_t count) {
  std::optional<std::string> key;
  for (std::size_t i = 0; i < count; ++i) {
    if (portico::view(headers[i].name) != "idempotency-key") continue;
    const std::string_view value = trim(portico::view(headers[i].value));
    if (key && *key != value) throw bad("two different Idempotency-Key headers");
    key = std::string(value);
  }
  if (key && (key->empty() || characters(*key) > longest)) throw bad("Idempotency-Key must have 1 to 255 characters");
  return key;
}

portico::http_error key_taken() {
  return portico::http_error(422, comfy::code::idempotency_key_reuse,
                             "this Idempotency-Key was used already; list your jobs to find the one it made");
}

}  // namespace jobs
