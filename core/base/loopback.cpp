#include "core/base/loopback.hpp"

#include <algorithm>
#include <optional>

#include "core/base/address.hpp"
#include "core/base/text.hpp"

namespace portico::base {

bool is_loopback_literal(std::string_view host) noexcept {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return false;
  }
  const std::optional<address> a = parse_address(host);
  if (!a) return false;
  if (a->is_v4()) return a->bytes[12] == 127;
  return a->bytes[15] == 1 && std::all_of(a->bytes.begin(), a->bytes.end() - 1, [](std::uint8_t b) { return b == 0; });
}

bool is_loopback_name(std::string_view host) noexcept {
  if (is_loopback_literal(host)) return true;
  constexpr std::string_view name = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < name.size() || !equal_ignoring_case(host.substr(host.size() - name.size()), name)) return false;
  if (host.size() == name.size()) return true;
  return host[host.size() - name.size() - 1] == '.' && host.size() > name.size() + 1;
}

}  // namespace portico::base
