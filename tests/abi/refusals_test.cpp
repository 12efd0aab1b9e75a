// What keeps a server from starting, each with its own text, to the letter.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "browser.hpp"
#include "core/plugin/manager.hpp"
#include "rig.hpp"

namespace fs = std::filesystem;

namespace {

std::string refusal_of(const std::string& name, const std::string& fixture,
                       const std::map<std::string, std::string>& keys = {}) {
  rig::server s(2);
  s.enable(name, fixture, keys);
  const std::string refused = s.start();
  CHECK(s.stop());
  return refused;
}
std::string subject(const std::string& name, const std::string& fixture, int line = 1) {
  return "test.ini:" + std::to_string(line) + ": plugin \"" + name + "\" (" + rig::library(fixture) + ")";
}

class folder {
 public:
  folder() : path_(fs::temp_directory_path() / ("portico-abi-" + std::to_string(std::random_device{}()))) {
    fs::create_directories(path_);
  }
  ~folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a file that is no library is refused in the loader's own words") {
  const folder here;
  const std::string path = here / "text.so";
  std::ofstream(path) << "This is a text, and long enough to be read as the head of a library by a careless loader.\n";
  CHECK(refusal_of("text", path) ==
        "test.ini:1: plugin \"text\" (" + path + ") cannot be loaded: " + path + ": invalid ELF header");
  const std::string empty = here / "empty.so";
  std::ofstream(empty).flush();
  CHECK(refusal_of("empty", empty) ==
        "test.ini:1: plugin \"empty\" (" + empty + ") cannot be loaded: " + empty + ": file too short");
}

TEST_CASE("a truncated library is refused before the loader could die of it") {
  const folder here;
  const auto whole = fs::file_size(rig::library("hello"));
  int refusals = 0;
  for (const int percent : {90, 50, 20, 10, 5, 2}) {
    // Each has a name of its own: what is mapped must not be written to.
    const std::string path = here / ("cut" + std::to_string(percent) + ".so");
    fs::copy_file(rig::library("hello"), path);
    const auto size = whole * static_cast<std::uintmax_t>(percent) / 100;
    fs::resize_file(path, size);
    const std::string refused = refusal_of("cut", path);
    const std::string expected =
        "test.ini:1: plugin \"cut\" (" + path + ") is truncated: it has " + std::to_string(size) + " bytes, and its ";
    INFO(refused);
    // What is cut behind the segments holds only names for debuggers, and loads.
    if (refused.empty()) continue;
    ++refusals;
    CHECK(refused.substr(0, expected.size()) == expected);
    CHECK(refused.substr(refused.size() - 24) == "; build or copy it again");
  }
  CHECK(refusals >= 2);
  const std::string path = here / "cut.so";
  fs::copy_file(rig::library("hello"), path);
  fs::resize_file(path, 100);
  CHECK(refusal_of("cut", path) ==
        "test.ini:1: plugin \"cut\" (" + path +
            ") is truncated: it has 100 bytes, and its list of segments lies beyond them; build or copy it again");
}

TEST_CASE("a missing file, a folder and portico's own executable are refused") {
  const folder here;
  CHECK(refusal_of("gone", here / "gone.so") ==
        "test.ini:1: plugin \"gone\" (" + (here / "gone.so") + ") cannot be loaded: there is no such file");
  fs::create_directory(here / "dir.so");
  CHECK(refusal_of("dir", here / "dir.so") ==
        "test.ini:1: plugin \"dir\" (" + (here / "dir.so") + ") cannot be loaded: it is a folder");
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  CHECK(refusal_of("self", self) ==
        "test.ini:1: plugin \"self\" (" + self + ") is portico's own executable, not a plugin");
  fs::create_symlink(self, here / "link.so");
  CHECK(refusal_of("self", here / "link.so") ==
        "test.ini:1: plugin \"self\" (" + (here / "link.so") + ") is portico's own executable, not a plugin");
}

TEST_CASE("a name without a library in the directory is refused with the nearest one") {
  rig::server s(1);
  s.settings.plugin_directory = fs::path(rig::library("hello")).parent_path().string();
  s.enable("helo", "");
  s.settings.plugins[0].library.clear();
  const std::string refused = s.start();
  const std::string expected =
      "test.ini:1: there is no plugin \"helo\" in " + s.settings.plugin_directory + "; did you mean \"hello\"? known: ";
  CHECK(refused.substr(0, expected.size()) == expected);
}

TEST_CASE("a missing dependency and an unresolved symbol are named in the loader's own words") {
  CHECK(refusal_of("dependent", "dependent") ==
        subject("dependent", "dependent") +
            " cannot be loaded: libgone.so: cannot open shared object file: No such file or directory");
  CHECK(refusal_of("unresolved", "unresolved") == subject("unresolved", "unresolved") +
                                                      " cannot be loaded: " + rig::library("unresolved") +
                                                      ": undefined symbol: function_that_nobody_has");
}

TEST_CASE("a library without the entry, and entries that give nothing, are refused") {
  CHECK(refusal_of("q", "no_query") ==
        subject("q", "no_query") + " is not a portico plugin: it does not export portico_query");
  CHECK(refusal_of("m", "another_major") ==
        subject("m", "another_major") +
            " speaks another ABI major: 2, and this server speaks 1; take the build of it for this version of portico");
  CHECK(refusal_of("m", "older_major") ==
        subject("m", "older_major") +
            " speaks another ABI major: 0, and this server speaks 1; take the build of it for this version of portico");
  CHECK(refusal_of("m", "no_major") == subject("m", "no_major") +
                                           " speaks another ABI major: its portico_query(1) returns NULL; take the "
                                           "build of it for this version of portico");
  CHECK(refusal_of("m", "throws_from_query") ==
        subject("m", "throws_from_query") + " threw out of its portico_query, which must not happen");
}

TEST_CASE("a plugin that needs a younger server is told what both have") {
  CHECK(refusal_of("y", "younger_minor") == subject("y", "younger_minor") +
                                                " needs minor 7 of the plugin interface, and this server has minor 0; "
                                                "it is test.refused 1.2.3, built with cc 1, "
                                                "by hand; take a younger portico or an older build of it");
}

TEST_CASE("malformed descriptions are refused with what is wrong in them") {
  const auto malformed = [](const std::string& fixture, const std::string& why) {
    CHECK(refusal_of("x", fixture) == subject("x", fixture) + " has a malformed table: " + why);
  };
  malformed("short_table", "struct_size is 112, and version 1.0 has 120 bytes");
  malformed("empty_table", "struct_size is 0, and version 1.0 has 120 bytes");
  malformed("no_id", "id is NULL");
  malformed("no_create", "create is NULL; it was built with cc 1, by hand");
  malformed("short_setting",
            "struct_size of its settings is 40, and version 1.0 has 48 bytes; it was built with cc 1, by hand");
  malformed("unknown_setting",
            "the type of its key \"word\" is 42, which this server does not know; it was built with cc 1, by hand");
  malformed("own_key", "it declares the key \"optional\", which is portico's own; it was built with cc 1, by hand");
  malformed("twice_a_key", "it declares the key \"number\" twice; it was built with cc 1, by hand");
  malformed("bad_default",
            "the default of its key \"word\" is no good: \"soon\" is not a duration; allowed: a number with ms, s, m, "
            "h or d, such as "
            "250ms or 30s; it was built with cc 1, by hand");
}

TEST_CASE("tables and settings of a younger header load, and so does a build with the other string layout") {
  rig::server s(2);
  s.enable("younger", "younger_table", {{"number", "9"}})
      .enable("old", "hello_old_strings", {{"greeting", "A greeting of some length"}});
  REQUIRE(s.start() == "");
  CHECK(rig::get(s.port(), "/sound").body == "sound");
  CHECK(rig::get(s.port(), "/hello/Ada").body == "A greeting of some length, Ada!\n");
  CHECK(s.stop());
}

TEST_CASE("a plugin that another compiler built loads") {
  if (!fs::exists(rig::library("hello_clang"))) {
    WARN("skipped: there is no clang++ here");
    return;
  }
  rig::server s(2);
  s.enable("clang", "hello_clang").enable("c", "hello_c");
  REQUIRE(s.start() == "");
  CHECK(rig::get(s.port(), "/hello/Ada").body == "Hello, Ada!\n");
  CHECK(s.stop());
}

TEST_CASE("keys are checked against what the plugin declares") {
  CHECK(
      refusal_of("sound", "sound", {{"wrod", "x"}}) ==
      "test.ini:1: [plugin.sound] unknown key \"wrod\"; did you mean \"word\"? known: library, number, optional, word");
  CHECK(refusal_of("sound", "sound", {{"number", "many"}}) ==
        "test.ini:1: [plugin.sound] number: \"many\" is not a whole number; allowed: 1 to 9");
  CHECK(refusal_of("sound", "sound", {{"number", "10"}}) ==
        "test.ini:1: [plugin.sound] number: \"10\" is out of range; allowed: 1 to 9");
  CHECK(refusal_of("must", "must_be_set") == "test.ini:1: [plugin.must] the key \"word\" must be set (A word.)");
  CHECK(refusal_of("up", "upstream_key") == "test.ini:1: [plugin.up] word: there is no section [upstream.main]");
  rig::server s(1);
  s.settings.upstreams.push_back({"other", "http://127.0.0.1:1", "test.ini:9"});
  s.enable("up", "upstream_key", {{"word", "othr"}});
  CHECK(s.start() ==
        "test.ini:1: [plugin.up] word: there is no section [upstream.othr]; did you mean \"other\"? known: other");
  CHECK(s.stop());
}

TEST_CASE("a plugin that cannot be created or started says why") {
  CHECK(refusal_of("c", "create_fails") == subject("c", "create_fails") + " could not be created: no room for it");
  CHECK(refusal_of("s", "start_fails") == subject("s", "start_fails") + " did not start: the moon is full");
}

TEST_CASE("what throws out of create or start is refused and does no harm") {
  CHECK(refusal_of("t", "throws", {{"from", "create"}}) ==
        subject("t", "throws") + " could not be created: it threw; nothing may leave a callback");
  for (const char* from : {"start", "start-int", "start-own"})
    CHECK(refusal_of("t", "throws", {{"from", from}}) ==
          subject("t", "throws") + " did not start: it threw; nothing may leave a callback");
}

TEST_CASE("a plugin that lists its routes registers no others") {
  CHECK(refusal_of("u", "unlisted_route") ==
        subject("u", "unlisted_route") + " did not start: the plugin's description does not list the route GET /sound");
  CHECK(refusal_of("l", "listed_route") == "");
}

TEST_CASE("two plugins with the same route are both named, whatever the second makes of it") {
  for (const char* second : {"sound", "ignores_a_clash"}) {
    rig::server s(2);
    s.enable("first", "sound").enable("second", second);
    CHECK(s.start() ==
          subject("second", second, 2) + " did not start: `GET /sound` of \"second\" is already a route of \"first\"");
    CHECK(s.stop());
  }
}

TEST_CASE("services: one that is missing, provided twice, promised in vain, or whose provider did not start") {
  CHECK(refusal_of("n", "needer") ==
        subject("n", "needer") + " needs the service x.one/1, which no enabled plugin provides; enable one that does");
  {
    rig::server s(1);
    s.enable("p", "provider").enable("q", "provider_twin");
    CHECK(s.start() == subject("q", "provider_twin", 2) +
                           " provides the service x.one/1, which \"p\" provides already; enable one of the two");
    CHECK(s.stop());
  }
  CHECK(refusal_of("i", "provider_idle") ==
        subject("i", "provider_idle") + " did not start: it lists the service x.one/1 and did not provide it");
  rig::server s(1);
  s.enable("n", "needer").enable("p", "provider_fails", {}, true);
  CHECK(s.start() ==
        subject("n", "needer") + " did not start: it needs the service x.one/1, whose provider did not start");
  CHECK(s.stop());
}

TEST_CASE("a cycle of services is drawn") {
  rig::server s(1);
  s.enable("a", "cycle_a").enable("b", "cycle_b").enable("c", "cycle_c");
  CHECK(s.start() ==
        subject("a", "cycle_a") + " is in a cycle of services: a → b → c → a; one of them must do without");
  CHECK(s.stop());
}

TEST_CASE("an optional plugin that is refused leaves nothing behind, and the server runs on without it") {
  rig::clear_log();
  rig::server s(4);
  s.enable("bad", "start_fails", {}, true).enable("worse", "another_major", {}, true).enable("good", "sound");
  s.enable("user", "user").enable("lost", "needer", {}, true);
  REQUIRE(s.start() == "");
  // The failed start had registered GET /sound before it failed; now it is another's.
  CHECK(rig::get(s.port(), "/sound").body == "sound");
  CHECK(rig::get(s.port(), "/user").body == "sound");
  CHECK(rig::get(s.port(), "/needer").status == 404);
  CHECK(rig::logged("WARNING plugin: " + subject("bad", "start_fails", 1) +
                    " did not start: the moon is full; going on without it, as it is optional"));
  CHECK(rig::logged("WARNING plugin: " + subject("worse", "another_major", 2) + " speaks another ABI major: 2"));
  CHECK(rig::logged("WARNING plugin: " + subject("lost", "needer", 5) + " needs the service x.one/1"));
  CHECK(s.stop());
}

TEST_CASE("each unusable plugin has its line") {
  rig::server s(1);
  s.enable("m", "another_major").enable("sound", "sound").enable("i", "no_id");
  CHECK(
      s.start() ==
      subject("m", "another_major", 1) +
          " speaks another ABI major: 2, and this server speaks 1; take the build of it for this version of portico\n" +
          subject("i", "no_id", 3) + " has a malformed table: id is NULL");
  CHECK(s.stop());
}

TEST_CASE("check finds what start would, and creates nothing") {
  rig::server s(1);
  s.enable("t", "throws", {{"from", "create"}});
  portico::plugin::check(s.settings);  // create would have thrown
  s.enable("n", "needer");
  CHECK_THROWS_WITH(portico::plugin::check(s.settings), Catch::Contains("needs the service x.one/1"));
  rig::server clash(1);
  clash.enable("one", "listed_route").enable("two", "listed_route");
  rig::clear_log();
  portico::plugin::check(clash.settings);
  CHECK(rig::logged(
      "WARNING plugin: " + subject("two", "listed_route", 2) +
      " will not start if it registers all it lists: `GET /sound` of \"two\" is already a route of \"one\""));
}

TEST_CASE("describe_all tells all of a plugin without starting it, and why another cannot be told") {
  rig::server s(1);
  s.settings.plugin_directory = fs::path(rig::library("hello")).parent_path().string();
  s.enable("hello_c", "hello_c");
  const auto all = portico::plugin::describe_all(s.settings);
  const auto find = [&](const std::string& name) {
    for (const auto& d : all)
      if (d.name == name) return d;
    FAIL("no " << name);
    return portico::plugin::description{};
  };
  const auto hello = find("hello");
  CHECK(hello.id == "org.example.hello");
  CHECK(hello.error == "");
  CHECK_FALSE(hello.enabled);
  CHECK(hello.build.find("SDK 1.0") != std::string::npos);
  REQUIRE(hello.keys.size() == 1);
  CHECK(hello.keys[0].name == "greeting");
  CHECK(hello.keys[0].type == "text");
  CHECK(hello.keys[0].fallback == "Hello");
  CHECK(find("hello_c").enabled);
  CHECK(find("hello_c").routes == std::vector<std::string>{"GET /hello-c"});
  CHECK(find("counter_provider").provides == std::vector<std::string>{"example.counter/1"});
  CHECK(find("another_major").error.find("speaks another ABI major: 2") != std::string::npos);
  CHECK(find("must_be_set").keys[0].required);
}
