// The greeter in a fake server: no sockets, no threads, and time that moves when the test lets it.
#include <portico/abi/plugin.h>
#include <portico/testing/server.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace std::chrono_literals;

static void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

int main() {
  portico::testing::server s;
  s.load(&portico_query, {{"greeting", "Salut"}, {"pause", "30s"}});

  const auto begun = s.send({.target = "/greet/Ada"});
  s.advance(29s);
  must(!begun->over, "it thinks for thirty seconds");
  s.advance(1s);
  must(begun->status == 200 && begun->body == "Salut, Ada!\n", "then it greets");

  must(s.get("/greet/Ren%C3%A9")->body == "Salut, René!\n", "names are decoded");
  must(s.get("/greet/" + std::string(101, 'x'))->status == 422, "a long name is refused");
  must(s.stat("greeted_total") == 2, "greetings are counted");

  const auto gone = s.send({.target = "/greet/gone"});
  s.run();
  gone->disconnect();
  s.run();
  must(gone->over && s.stat("greeted_total") == 2, "nobody is greeted who has gone");

  s.stop();  // throws if the plugin broke a rule, or keeps something that it should have given back
  std::puts("good");
}
