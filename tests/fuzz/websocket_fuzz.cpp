// The frames of a websocket are understood the same however they are cut, in both roles.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "core/http/websocket_frame.hpp"

using namespace portico;
using http::websocket_decoder;

namespace {

constexpr std::size_t max_message = 4096;

void must(bool holds) {
  if (!holds) std::abort();
}

// Everything a decoder says about input given in pieces of that size.
std::string story(std::string_view input, http::websocket_role role, std::size_t step) {
  websocket_decoder d(role, max_message);
  std::string all;
  std::vector<char> message;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    while (true) {
      const websocket_decoder::event e = d.feed(piece);
      if (e == websocket_decoder::event::more) break;
      all += static_cast<char>('0' + static_cast<int>(e));
      if (e == websocket_decoder::event::broken) {
        must(d.fault() == 1002 || d.fault() == 1007 || d.fault() == 1009);
        return all + std::to_string(d.fault());
      }
      if (e == websocket_decoder::event::message) {
        const bool text = d.text();
        d.take(message);
        must(message.size() <= max_message);
        must(!text || base::is_utf8({message.data(), message.size()}));
        all.append(text ? "t" : "b").append(message.begin(), message.end());
      } else {
        must(d.payload().size() <= 125);
        all.append(d.payload());
        if (e == websocket_decoder::event::close) {
          must(d.close_code() == 1006 || http::is_close_code(d.close_code()));
          must(base::is_utf8(d.payload()));
          all += std::to_string(d.close_code());
        }
      }
    }
    must(piece.empty());
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (auto role : {http::websocket_role::server, http::websocket_role::client}) {
    const std::string whole = story(input, role, size);
    must(story(input, role, 1) == whole);
    must(story(input, role, 1 + size / 7) == whole);
  }
  return 0;
}
