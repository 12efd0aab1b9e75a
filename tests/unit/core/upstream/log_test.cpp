// What the log hears of a server that answers, but not with what was asked for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "feed_bench.hpp"

using namespace feed_bench;

namespace {

std::mutex guard;
std::vector<std::string> lines;

struct captured {
  captured() {
    base::set_log_sink([](base::level, std::string_view, std::string_view text) {
      const std::lock_guard lock(guard);
      lines.emplace_back(text);
    });
  }
  ~captured() { base::set_log_sink(nullptr); }

  std::ptrdiff_t count(const std::string& words) const {
    const std::lock_guard lock(guard);
    return std::count_if(lines.begin(), lines.end(), [&](const auto& l) { return l.find(words) != l.npos; });
  }
};

}  // namespace

TEST_CASE("a websocket that is refused again and again is logged once, though calls in between succeed") {
  const captured log;
  server s([](peer& p) {
    if (p.read_head().find("Upgrade: websocket") != std::string::npos)
      p.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    else
      p.answer("fine");
    p.drain();
  });
  loops l;
  for (int i = 0; i < 3; ++i) {
    feed w(l);
    REQUIRE(w.connect(ws_url(s)) == base::ok);
    CHECK(w.ready() == base::protocol);
    fetch f(l);
    f.get(s.url("/"));
    CHECK(f.answer == "fine");
    f.close();
  }
  CHECK(log.count("it answered a websocket's handshake with 404") == 1);
}
