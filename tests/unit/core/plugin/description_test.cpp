#include <catch2/catch.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "core/plugin/library.hpp"
#include "core/plugin/manager.hpp"

using namespace portico::plugin;

namespace {

std::int32_t PORTICO_CALL create(const portico_host*, void**, portico_error*) { return 0; }
std::int32_t PORTICO_CALL start(void*, portico_error*) { return 0; }
void PORTICO_CALL end(void*) {}

portico_plugin sound() {
  portico_plugin p{};
  p.struct_size = sizeof p;
  p.id = "t.id";
  p.version = "1";
  p.summary = "S.";
  p.create = &create;
  p.start = &start;
  p.stop = p.destroy = &end;
  return p;
}
std::string refusal_of(const portico_plugin* p) {
  try {
    read_description(p, "it");
    return {};
  } catch (const refusal& why) {
    return why.what();
  }
}

}  // namespace

TEST_CASE("a description with only what it must have is sound") {
  portico_plugin p = sound();
  const described d = read_description(&p, "it");
  CHECK(d.id == "t.id");
  CHECK(d.build.empty());
  CHECK(d.keys.empty());
  CHECK_FALSE(d.lists_routes);
}

TEST_CASE("the description of an older header, which ends before the list of routes, loads") {
  const char* const routes[] = {"GET /x", nullptr};
  portico_plugin p = sound();
  p.routes = routes;
  p.struct_size = offsetof(portico_plugin, routes);
  CHECK(refusal_of(&p).empty());
  CHECK_FALSE(read_description(&p, "it").lists_routes);  // what is past its end is not looked at
  p.struct_size = sizeof p;
  CHECK(read_description(&p, "it").routes == std::vector<std::string>{"GET /x"});
}

TEST_CASE("each function and text that must be there is missed by name") {
  CHECK(refusal_of(nullptr) == "it has a malformed table: it is NULL");
  const std::pair<const char*, void (*)(portico_plugin&)> cases[] = {
      {"id", [](portico_plugin& p) { p.id = nullptr; }},
      {"version", [](portico_plugin& p) { p.version = nullptr; }},
      {"summary", [](portico_plugin& p) { p.summary = nullptr; }},
      {"create", [](portico_plugin& p) { p.create = nullptr; }},
      {"start", [](portico_plugin& p) { p.start = nullptr; }},
      {"stop", [](portico_plugin& p) { p.stop = nullptr; }},
      {"destroy", [](portico_plugin& p) { p.destroy = nullptr; }},
      {"settings", [](portico_plugin& p) { p.setting_count = 1; }}};
  for (const auto& [name, spoil] : cases) {
    portico_plugin p = sound();
    spoil(p);
    CHECK(refusal_of(&p) == std::string("it has a malformed table: ") + name + " is NULL");
  }
}

TEST_CASE("sizes and counts that cannot be are refused before anything is read through them") {
  portico_plugin p = sound();
  p.struct_size = offsetof(portico_plugin, destroy);
  CHECK(refusal_of(&p).find("struct_size is 112, and version 1.0 has 120 bytes") != std::string::npos);
  p = sound();
  const portico_setting one = {sizeof one, PORTICO_SETTING_TEXT, "a", "", "", 0, 0};
  p.settings = &one;
  p.setting_count = static_cast<std::size_t>(-1);
  CHECK(refusal_of(&p).find("setting_count is 18446744073709551615, and 1000 are allowed") != std::string::npos);
  portico_setting odd = one;
  odd.struct_size = sizeof one + 1;
  p.settings = &odd;
  p.setting_count = 1;
  CHECK(refusal_of(&p).find("struct_size of its settings is 49") != std::string::npos);
}

TEST_CASE("settings are read by the size of their own entries") {
  struct grown {
    portico_setting old;
    void* more;
  };
  const grown both[] = {{{sizeof(grown), PORTICO_SETTING_TEXT, "first", "A.", "x", 0, 0}, nullptr},
                        {{sizeof(grown), PORTICO_SETTING_SIZE, "second", nullptr, nullptr, 1, 9}, nullptr}};
  portico_plugin p = sound();
  p.settings = &both[0].old;
  p.setting_count = 2;
  const described d = read_description(&p, "it");
  REQUIRE(d.keys.size() == 2);
  CHECK(std::string(d.keys[1].name) == "second");
  CHECK(std::string(d.keys[1].help).empty());
  CHECK(d.keys[1].fallback == nullptr);
  CHECK(d.keys[1].max == 9);
}

TEST_CASE("names of settings are plain, and only once") {
  const auto refusal_of_names = [](const char* a, const char* b) {
    const portico_setting both[] = {{sizeof(portico_setting), 0, a, "", "", 0, 0},
                                    {sizeof(portico_setting), 0, b, "", "", 0, 0}};
    portico_plugin p = sound();
    p.settings = both;
    p.setting_count = 2;
    return refusal_of(&p);
  };
  CHECK(refusal_of_names("a", "b_2").empty());
  CHECK(refusal_of_names("a", "a") == "it has a malformed table: it declares the key \"a\" twice");
  CHECK(refusal_of_names("a", "B") ==
        "it has a malformed table: setting 2 is named \"B\"; allowed are a to z, 0 to 9 and _");
  CHECK(refusal_of_names("", "b") == "it has a malformed table: setting 1 has no name");
  CHECK(refusal_of_names(nullptr, "b") == "it has a malformed table: setting 1 has no name");
  CHECK(refusal_of_names("a", "library") ==
        "it has a malformed table: it declares the key \"library\", which is portico's own");
}

TEST_CASE("a list of services that does not end is noticed") {
  const std::vector<const char*> endless(2000, "x/1");
  portico_plugin p = sound();
  p.uses = endless.data();
  CHECK(refusal_of(&p) == "it has a malformed table: uses does not end in NULL");
  const char* const empty[] = {"", nullptr};
  p.uses = empty;
  CHECK(refusal_of(&p) == "it has a malformed table: uses holds an empty text");
}
