// Calls against a function's thread tag.  A build that checks tags ends the process with a line that names function and
// tag: each case runs in a child, this same program.  Any other build answers with an error and a line.
#include <catch2/catch.hpp>

#include <Poco/Pipe.h>
#include <Poco/PipeStream.h>
#include <Poco/Process.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <thread>

#include "browser.hpp"
#include "rig.hpp"

using namespace std::chrono_literals;

namespace {

struct breach {
  const char* name;
  const char* said;
};
constexpr breach breaches[] = {
    {"finish-on-another-loop",
     "portico.http/1 finish is tagged [loop] and was called on a thread that does not turn the object's loop"},
    {"finish-on-a-thread",
     "portico.http/1 finish is tagged [loop] and was called on a thread that does not turn the object's loop"},
    {"timer-on-a-thread",
     "portico.timer/1 after is tagged [loop] and was called on a thread that turns no loop of this server"},
    {"timer-on-the-pool",
     "portico.timer/1 after is tagged [loop] and was called on a thread that turns no loop of this server"},
    {"timer-in-create", "portico.timer/1 after is tagged [loop] and was called inside create()"},
    {"route-in-create", "portico.http/1 route is tagged [start] and was called outside start()"},
    {"route-on-a-thread", "portico.http/1 route is tagged [start] and was called outside start()"},
    {"route-while-serving", "portico.http/1 route is tagged [start] and was called outside start()"},
};

// Commits the breach; a child that is still alive some time later has not been ended by it.
void commit(const std::string& name, rig::server& s) {
  s.enable("breaches", "breaches", {{"breach", name}});
  if (!s.start().empty()) return;
  rig::browser b(s.port());
  b.request("GET", "/breach");
  std::this_thread::sleep_for(300ms);
}

}  // namespace

#if defined(PORTICO_CHECK_TAGS)

TEST_CASE("a child of this program commits the breach it is told", "[.child]") {
  const char* name = std::getenv("PORTICO_BREACH");
  REQUIRE(name);
  rig::server s(2);
  rig::log_to_stderr();
  commit(name, s);
  s.stop(0ms, 200ms);
}

TEST_CASE("a breach of a thread tag ends the process with a line that names function and tag") {
  for (const breach& b : breaches) {
    INFO(b.name);
    Poco::Pipe out;
    Poco::Process::Args args{"[.child]"};
    Poco::Process::Env env{
        {"PORTICO_BREACH", b.name}, {"ASAN_OPTIONS", "handle_abort=0"}, {"TSAN_OPTIONS", "handle_abort=0"}};
    auto child = Poco::Process::launch(RIG_SELF, args, nullptr, &out, &out, env);
    Poco::PipeInputStream text(out);
    const std::string said((std::istreambuf_iterator<char>(text)), std::istreambuf_iterator<char>());
    const int code = child.wait();
    CHECK(code != 0);
    CHECK(said.find(std::string(b.said) + "; this build checks tags and ends here") != std::string::npos);
  }
}

#else

TEST_CASE("a breach of a thread tag is answered with an error and a line, and the server lives on") {
  for (const breach& b : breaches) {
    INFO(b.name);
    rig::clear_log();
    rig::server s(2);
    commit(b.name, s);
    CHECK(rig::logs_soon(std::string(b.said).substr(0, std::string(b.said).find(" is tagged"))));
    s.stop(0ms, 200ms);
  }
}

#endif
