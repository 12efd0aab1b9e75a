// A request: its head and its body are understood the same however they are cut, and what is handed on is clean.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/http/parser.hpp"
#include "core/http/syntax.hpp"

using namespace portico;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

bool inside(std::string_view piece, const std::string& all) {
  return piece.empty() || (piece.data() >= all.data() && piece.data() + piece.size() <= all.data() + all.size());
}

// All of a body, given in steps; and where it ended.
struct body {
  std::string content;
  bool complete = false, refused = false;
  std::size_t used = 0;
  body(const http::request_parser& p, std::string wire, std::size_t step, const http::head_limits& limits) {
    http::body_decoder d(limits);
    d.start(p.body(), p.head().content_length);
    while (used < wire.size() && !d.complete() && !d.refused()) {
      std::span<char> input(wire.data() + used, std::min(step, wire.size() - used));
      const std::size_t offered = input.size();
      while (!input.empty() && !d.complete() && !d.refused()) content += d.next(input, 1 + step);
      used += offered - input.size();
    }
    complete = d.complete();
    refused = d.refused();
  }
};

void check_head(const http::request_parser& p, const std::string& data) {
  const http::request_head& h = p.head();
  must(p.size() <= data.size());
  must(std::string_view(data).substr(0, p.size()).ends_with("\r\n\r\n"));
  must(!h.path.empty() && (h.path.front() == '/' || h.path == "*"));
  must(inside(h.method, data) && inside(h.query, data) && inside(h.authority, data));
  must(h.authority.empty() ? h.minor_version == 0 : http::syntax::is_authority(h.authority));
  int lengths = 0, codings = 0;
  for (const http::field& f : h.headers) {
    must(inside(f.name, data) && inside(f.value, data));
    must(http::syntax::is_token(f.name) && http::syntax::is_value(f.value));
    for (const char c : f.name) must(c < 'A' || c > 'Z');
    lengths += f.name == "content-length";
    codings += f.name == "transfer-encoding";
  }
  must(lengths + codings <= 1);
  must((codings == 1) == (p.body() == http::framing::chunked));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const http::head_limits limits;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string whole = text;
  http::request_parser at_once(limits);
  const http::parsed result = at_once.parse(whole.data(), whole.size());
  if (result == http::parsed::complete) check_head(at_once, whole);
  if (result == http::parsed::refused) must(at_once.why().status >= 400 && !at_once.why().message.empty());

  http::request_parser in_steps(limits);
  http::parsed last = http::parsed::more;
  std::string so_far;
  const std::size_t step = size > 2000 ? size / 7 : 1 + size / 50;
  while (last == http::parsed::more && so_far.size() < size) {
    std::string grown = so_far + text.substr(so_far.size(), step);
    last = in_steps.parse(grown.data(), grown.size());
    so_far = std::move(grown);
    if (last == http::parsed::complete) check_head(in_steps, so_far);
  }
  must(last == result);
  if (result != http::parsed::complete) return 0;
  must(at_once.size() == in_steps.size());
  must(at_once.head().content_length == in_steps.head().content_length);

  const std::string rest = text.substr(at_once.size());
  const body one(at_once, rest, SIZE_MAX / 2, limits), two(at_once, rest, 1, limits), three(at_once, rest, 7, limits);
  must(one.complete == two.complete && one.refused == two.refused);
  must(one.complete == three.complete && one.refused == three.refused);
  must(one.content == two.content && one.content == three.content);
  if (one.complete) must(one.used == two.used && one.used == three.used);
  return 0;
}
