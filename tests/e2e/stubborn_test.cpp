// Plugins that hold on to things, in the real program: what it says of them, and that it ends all the same.
#include <catch2/catch.hpp>
#include <csignal>

#include "stage.hpp"

using namespace e2e;

namespace {

std::string with_stubborn(int threads) {
  return "[server]\nthreads = " + std::to_string(threads) +
         "\ndrain_timeout = 500ms\n[plugins]\nenabled = health, stubborn\n[plugin.stubborn]\nlibrary "
         "= " PORTICO_FIXTURES "/stubborn" PORTICO_PLUGIN_SUFFIX "\n";
}

// A request that is sent and not waited for.
raw_socket sent(const process& p, const std::string& target) {
  raw_socket socket(p.port());
  socket.send("GET " + target + " HTTP/1.1\r\nHost: " + p.authority() + "\r\n\r\n");
  return socket;
}

bool logs(const process& p, const std::string& words) { return p.log().find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a handler that holds its loop is named with plugin and route, and other loops go on") {
  process portico("portico", with_stubborn(2));
  portico.allow_errors();
  std::vector<raw_socket> all;
  std::vector<std::string> loops;
  for (int i = 0; i < 4; ++i) {
    all.push_back(sent(portico, "/which"));
    loops.push_back(all.back().receive_answer().body);
  }
  all[0].send("GET /block?60000 HTTP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n");
  CHECK(eventually([&] { return logs(portico, "stubborn") && logs(portico, "GET /block"); }, 3s * slowness));
  std::size_t on_others = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (loops[i] == loops[0]) continue;
    ++on_others;
    all[i].send("GET /which HTTP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n");
    CHECK(all[i].receive_answer().body == loops[i]);
  }
  CHECK(on_others >= 1);
  CHECK(portico.wait(0ms) == -1);
  portico.kill();
}

TEST_CASE("a plugin that holds the only loop cannot keep the server from ending in time") {
  process portico("portico", with_stubborn(1));
  portico.allow_errors();
  const raw_socket blocking = sent(portico, "/block?60000");
  CHECK(eventually([&] { return logs(portico, "GET /block"); }, 3s * slowness));
  portico.signal(SIGTERM);
  CHECK(portico.wait(5s) == 0);
  CHECK(logs(portico, "a plugin holds the loop"));
}

TEST_CASE("a plugin that holds another loop cannot keep the server from ending in time") {
  process portico("portico", with_stubborn(4));
  portico.allow_errors();
  // Connections are spread over the loops; the first one that is not on loop 0 is used again to hold its loop.
  std::vector<raw_socket> all;
  bool holding = false;
  for (int i = 0; i < 8 && !holding; ++i) {
    all.push_back(sent(portico, "/which"));
    if (all.back().receive_answer().body == "loop 0") continue;
    all.back().send("GET /block?60000 HTTP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n");
    holding = true;
  }
  REQUIRE(holding);
  CHECK(eventually([&] { return logs(portico, "GET /block"); }, 3s * slowness));
  portico.signal(SIGTERM);
  CHECK(portico.wait(5s) == 0);
}

TEST_CASE("a plugin that keeps an exchange is named, and the server ends without it") {
  process portico("portico", with_stubborn(2));
  portico.allow_errors();
  const raw_socket kept = sent(portico, "/never");
  CHECK(eventually([&] { return get(portico.port(), "/api/v2/health").status == 200; }));
  portico.signal(SIGTERM);
  CHECK(portico.wait(5s) == 0);
  CHECK(logs(portico, "stubborn"));
}
