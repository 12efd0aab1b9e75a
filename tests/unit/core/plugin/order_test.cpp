#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "core/plugin/manager.hpp"
#include "core/plugin/order.hpp"

using namespace portico::plugin;

namespace {

member plugin(const std::string& name, std::vector<std::string> provides, std::vector<std::string> needs,
              std::vector<std::string> uses = {}, bool optional = false) {
  return {name, "ini: " + name, optional, std::move(provides), std::move(needs), std::move(uses)};
}
std::string sequence_of(const std::vector<member>& all, std::vector<std::string>* warnings = nullptr) {
  const start_order o = order_by_services(all, [&](const std::string& w) {
    if (warnings) warnings->push_back(w);
  });
  std::string out;
  for (const std::size_t i : o.sequence) out += all[i].name;
  return out;
}

}  // namespace

TEST_CASE("without services plugins start in the order they are enabled in") {
  CHECK(sequence_of({plugin("c", {}, {}), plugin("a", {}, {}), plugin("b", {}, {})}) == "cab");
  CHECK(sequence_of({}).empty());
}

TEST_CASE("providers start before users, and nobody is moved without need") {
  CHECK(sequence_of({plugin("a", {}, {"x"}), plugin("b", {}, {}), plugin("c", {"x"}, {})}) == "cab");
  CHECK(sequence_of({plugin("a", {}, {"x"}), plugin("b", {"x"}, {"y"}), plugin("c", {"y"}, {})}) == "cba");
  CHECK(sequence_of({plugin("a", {}, {}, {"x"}), plugin("b", {"x"}, {})}) == "ba");
  CHECK(sequence_of({plugin("a", {}, {}, {"x"}), plugin("b", {}, {})}) == "ab");
}

TEST_CASE("users are known by their provider, each once") {
  const std::vector<member> all = {plugin("a", {}, {"x", "y"}, {"x"}), plugin("b", {"x", "y"}, {}),
                                   plugin("c", {}, {"y"})};
  const start_order o = order_by_services(all, [](const std::string&) {});
  CHECK(o.users[1] == std::vector<std::size_t>{0, 2});
  CHECK(o.users[0].empty());
}

TEST_CASE("a cycle of one, two and three is drawn") {
  CHECK_THROWS_WITH(sequence_of({plugin("a", {"x"}, {"x"})}), Catch::Contains("a → a"));
  CHECK_THROWS_WITH(sequence_of({plugin("a", {"x"}, {"y"}), plugin("b", {"y"}, {"x"})}), Catch::Contains("a → b → a"));
  CHECK_THROWS_WITH(sequence_of({plugin("z", {}, {"x"}), plugin("a", {"x"}, {"y"}), plugin("b", {"y"}, {}, {"w"}),
                                 plugin("c", {"w"}, {"x"})}),
                    Catch::Contains("a → b → c → a"));
}

TEST_CASE("an optional plugin that closes a cycle is left out") {
  std::vector<std::string> warnings;
  CHECK(sequence_of({plugin("a", {"x"}, {}, {"y"}), plugin("b", {"y"}, {}, {"x"}, true)}, &warnings) == "a");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("a → b → a") != std::string::npos);
}

TEST_CASE("an optional plugin whose service is missing is left out") {
  std::vector<std::string> warnings;
  CHECK(sequence_of(
            {plugin("a", {"x"}, {"gone"}, {}, true), plugin("b", {}, {"x"}, {}, true), plugin("c", {}, {}, {"x"})},
            &warnings) == "c");
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] == "ini: a needs the service gone, which no enabled plugin provides; enable one that does");
  CHECK(warnings[1] == "ini: b needs the service x, which no enabled plugin provides; enable one that does");
}
