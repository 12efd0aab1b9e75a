// The real program with plugins that must not be its end: what runs when threads and the process end, and refusals as
// an operator sees them.
#include <catch2/catch.hpp>

#include <fstream>
#include <string>

#include "stage.hpp"

using namespace e2e;

namespace {

std::string fixture(const std::string& name) { return PORTICO_FIXTURES "/" + name + PORTICO_PLUGIN_SUFFIX; }
std::string enabling(const std::string& name, const std::string& more = {}) {
  return "[server]\nthreads = 4\n[plugins]\nenabled = " + name + "\n[plugin." + name + "]\nlibrary = " + fixture(name) +
         "\n" + more;
}
finished start_refused(const std::string& ini) {
  const std::string path = temporary_folder() + "/refused.ini";
  std::ofstream(path) << ini;
  return run_portico({"--port", "0", "--config", path});
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("destructors of threads and of the library, and functions given to atexit, find their code at the end") {
  process portico("portico", enabling("goodbye"));
  for (int i = 0; i < 12; ++i) CHECK(get(portico.port(), "/touch").status == 200);
  portico.stop();  // checks that the exit code is 0
  for (const char* words : {"a loop's thread_local ends", "a worker's thread_local ends", "a static object ends",
                            "a function given to atexit runs"})
    CHECK(says(portico.log(), words));
}

TEST_CASE("a plugin that is refused keeps the program from starting, with its line and an exit code of its own") {
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"another_major", "speaks another ABI major: 2, and this server speaks 1"},
           {"unresolved", "undefined symbol: function_that_nobody_has"},
           {"short_table", "has a malformed table: struct_size is 112"},
           {"start_fails", "did not start: the moon is full"}}) {
    const finished f = start_refused(enabling(name));
    INFO(f.output);
    CHECK(f.code == 3);
    CHECK(says(f.output, ":6: plugin \"" + std::string(name) + "\" (" + fixture(name) + ") "));
    CHECK(says(f.output, text));
  }
}

TEST_CASE("an optional plugin that is refused is a warning, and the program serves") {
  process portico("portico", enabling("start_fails", "optional = yes\n"));
  CHECK(says(portico.log(), "did not start: the moon is full; going on without it, as it is optional"));
  CHECK(get(portico.port(), "/sound").status == 404);
  portico.stop();
}

TEST_CASE("an unknown key of a plugin is named with its place and the nearest right word") {
  const finished f = start_refused(enabling("sound", "numbr = 3\n"));
  INFO(f.output);
  CHECK(f.code == 3);
  CHECK(says(f.output,
             "refused.ini:7: [plugin.sound] unknown key \"numbr\"; did you mean \"number\"? known: library, number, "
             "optional, word"));
}

TEST_CASE("a stream whose client reads slowly does not keep the program from ending") {
  process portico("portico",
                  "[server]\nthreads = 2\ndrain_timeout = 200ms\n[plugins]\nenabled = sse\n[plugin.sse]\nlibrary = " +
                      fixture("sse") + "\npause = 1ms\n");
  raw_socket slow(portico.port(), 4096);
  slow.send("GET /count HTTP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n");
  CHECK(slow.receive(100).substr(0, 15) == "HTTP/1.1 200 OK");
  portico.stop();
}
