#include "core/gate/forwarded.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/text.hpp"
#include "core/http/syntax.hpp"

namespace portico::gate {
namespace {

// The last member of a header that is a list, over all lines of that name; empty if there is none.
std::string_view last_member(const http::request_head& head, std::string_view name) noexcept {
  for (auto f = head.headers.rbegin(); f != head.headers.rend(); ++f)
    if (f->name == name) return base::trim(f->value.substr(f->value.rfind(',') + 1));
  return {};
}

}  // namespace

bool forwarded::trusts(std::string_view text) const noexcept {
  const auto a = base::parse_address(text);
  return a && std::any_of(trusted_.begin(), trusted_.end(), [&](const base::network& n) { return n.contains(*a); });
}

void forwarded::apply(http::exchange& x) const {
  if (trusted_.empty() || !trusts(x.peer())) return;
  const http::request_head& head = x.head();
  const std::string_view scheme = last_member(head, "x-forwarded-proto"), host = last_member(head, "x-forwarded-host");
  if (base::equal_ignoring_case(scheme, "https")) x.set_scheme("https");
  if (!host.empty() && http::syntax::is_authority(host))
    x.set_base_url(std::string(x.scheme()).append("://").append(host));

  std::string_view client;
  for (auto f = head.headers.rbegin(); f != head.headers.rend(); ++f) {
    if (f->name != "x-forwarded-for") continue;
    for (std::string_view rest = f->value; !rest.empty();) {
      const std::size_t comma = rest.rfind(',');
      const std::string_view hop = base::trim(rest.substr(comma + 1));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
      if (!base::parse_address(hop)) return;  // nothing before it can be relied on
      client = hop;
      x.set_peer(client);
      if (!trusts(client)) return;
    }
  }
}

}  // namespace portico::gate
