// The head of a response is understood the same however it is cut.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/http/parser.hpp"
#include "core/http/syntax.hpp"

using namespace portico;

namespace {
void must(bool holds) {
  if (!holds) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const http::head_limits limits;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string whole = text;
  http::response_parser at_once(limits);
  if (size % 2) at_once.expect("HEAD");
  const http::parsed result = at_once.parse(whole.data(), whole.size());

  http::response_parser in_steps(limits);
  if (size % 2) in_steps.expect("HEAD");
  http::parsed last = http::parsed::more;
  std::string so_far;
  const std::size_t step = 1 + size / 50;
  while (last == http::parsed::more && so_far.size() < size) {
    std::string grown = so_far + text.substr(so_far.size(), step);
    last = in_steps.parse(grown.data(), grown.size());
    so_far = std::move(grown);
  }
  must(last == result);
  if (result == http::parsed::refused) must(!at_once.why().message.empty());
  if (result != http::parsed::complete) return 0;
  must(at_once.size() == in_steps.size() && at_once.size() <= size);
  must(at_once.status() == in_steps.status() && at_once.body() == in_steps.body());
  must(at_once.status() == 101 || (at_once.status() >= 200 && at_once.status() <= 999));
  must(at_once.headers().size() == in_steps.headers().size());
  for (const http::field& f : at_once.headers())
    must(http::syntax::is_token(f.name) && http::syntax::is_value(f.value));
  return 0;
}
