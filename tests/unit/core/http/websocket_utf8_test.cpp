#include <catch2/catch.hpp>
#include <string>

#include "core/base/text.hpp"
#include "core/http/websocket_utf8.hpp"

using portico::http::utf8_check;

namespace {

bool whole(std::string_view text) {
  utf8_check c;
  return c.feed(text) && c.complete();
}

}  // namespace

TEST_CASE("every text of one to three bytes is judged as base::is_utf8 judges it, however it is cut") {
  // The second and third byte run over the borders where the answer changes.
  const int edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xff};
  for (int a = 0; a < 256; ++a)
    for (int b : edges)
      for (int c : edges) {
        const std::string text{static_cast<char>(a), static_cast<char>(b), static_cast<char>(c)};
        for (std::size_t size = 1; size <= 3; ++size) {
          const std::string_view part = std::string_view(text).substr(0, size);
          REQUIRE(whole(part) == portico::base::is_utf8(part));
        }
        utf8_check pieces;
        bool good = true;
        for (char one : text) good = pieces.feed({&one, 1}) && good;
        REQUIRE((good && pieces.complete()) == portico::base::is_utf8(text));
      }
}

TEST_CASE("a fault behind a long run of ASCII is found, and stays found") {
  for (std::size_t lead = 0; lead < 20; ++lead) {
    utf8_check c;
    CHECK_FALSE(c.feed(std::string(lead, 'a') + "\x80" + std::string(20, 'b')));
    CHECK_FALSE(c.feed("fine"));
    CHECK_FALSE(c.complete());
  }
  CHECK(whole("\xf4\x8f\xbf\xbf"));
  CHECK_FALSE(whole("\xf4\x90\x80\x80"));
  CHECK(whole(std::string(7, 'a') + "\xf0\x9f\x98\x80" + std::string(9, 'b')));
}
