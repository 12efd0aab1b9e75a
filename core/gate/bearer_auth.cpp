#include "core/gate/bearer_auth.hpp"

#include <utility>

#include "core/base/text.hpp"
#include "core/gate/headers.hpp"

namespace portico::gate {
namespace {

// Looks at every byte of `given`, whether it differs or not; volatile keeps the compiler from leaving the loop early.
bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept {
  volatile unsigned differs = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = static_cast<unsigned char>(given[i]), b = static_cast<unsigned char>(secret[i % secret.size()]);
    differs = differs | (a ^ b);
  }
  return differs == 0;
}

}  // namespace

bearer_auth::bearer_auth(std::string token) : token_(std::move(token)) {}

bool bearer_auth::admits(const http::request_head& head) const noexcept {
  if (token_.empty()) return true;
  constexpr std::string_view scheme = "bearer ";
  const single_header given = find_single(head, "authorization");
  if (given.count != 1 || !base::starts_with_ignoring_case(given.value, scheme)) return false;
  return equal_in_constant_time(given.value.substr(scheme.size()), token_);
}

}  // namespace portico::gate
