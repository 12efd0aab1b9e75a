#include "plugins/jobs/progress.hpp"

#include <catch2/catch.hpp>

using comfy::json::document;
using jobs::progress_meter;

namespace {

void states(progress_meter& m, const char* text) {
  const document d(text);
  REQUIRE(d.ok());
  m.states(d.root());
}

}  // namespace

TEST_CASE("the fraction is of the submitted graph's nodes") {
  progress_meter m(4);
  CHECK(m.now().value == 0);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"running","value":3,"max":10}})");
  CHECK(m.now().value == Approx(0.325));
  CHECK(m.now().nodes_done == 1);
  CHECK(m.now().nodes_total == 4);
  CHECK(m.now().current_node == "2");
  CHECK(m.now().step == 3);
  CHECK(m.now().steps == 10);
}

TEST_CASE("nothing said is nothing done, and all finished is the whole") {
  progress_meter m(2);
  states(m, "{}");
  CHECK(m.now().value == 0);
  CHECK_FALSE(m.now().current_node);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"finished"}})");
  CHECK(m.now().value == 1);
  CHECK(m.now().nodes_done == 2);
  CHECK_FALSE(m.now().current_node);
}

TEST_CASE("a node that does not say how long it takes counts when it is over") {
  progress_meter m(2);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"running","value":5,"max":0}})");
  CHECK(m.now().value == 0.5);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"running"}})");
  CHECK(m.now().value == 0.5);
}

TEST_CASE("progress never falls, and never passes the whole") {
  progress_meter m(2);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"running","value":9,"max":10}})");
  CHECK(m.now().value == Approx(0.95));
  states(m, R"({"1":{"state":"running","value":1,"max":10}})");
  CHECK(m.now().value == Approx(0.95));
  CHECK(m.now().nodes_done == 1);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"finished"},"2.0.1":{"state":"finished"},"3":{"state":"running",)"
            R"("value":99,"max":9}})");
  CHECK(m.now().value == 1);
  CHECK(m.now().nodes_done == 2);
}

TEST_CASE("once progress_state speaks, single steps change the step and not the fraction") {
  progress_meter m(4);
  states(m, R"({"1":{"state":"finished"},"2":{"state":"running","value":3,"max":10}})");
  CHECK(m.step("2", 9, 10));
  CHECK(m.now().value == Approx(0.325));
  CHECK(m.now().step == 9);
  CHECK_FALSE(m.step("2", 9, 10));
  CHECK_FALSE(m.done("1"));
}

TEST_CASE("a ComfyUI that sends no progress_state is added up from its other messages") {
  progress_meter m(4);
  const document cached(R"(["1"])");
  CHECK(m.cached(cached.root()));
  CHECK(m.now().value == 0.25);
  CHECK(m.executing("2"));
  CHECK(m.now().value == 0.25);
  m.step("2", 5, 10);
  CHECK(m.now().value == 0.375);
  m.executing("3");
  CHECK(m.now().value == 0.5);
  CHECK(m.now().nodes_done == 2);
  CHECK_FALSE(m.now().step);
  m.done("3");
  CHECK(m.now().value == 0.75);
  m.step("", std::nullopt, std::nullopt);
  CHECK(m.now().current_node == "3");
  CHECK(m.now().value == 0.75);
}

TEST_CASE("odd shapes change nothing") {
  progress_meter m(3);
  for (const char* text :
       {"[]", "null", "5", R"({"1":null})", R"({"1":[]})", R"({"1":{"state":5}})", R"({"1":{"state":"pending"}})"}) {
    const document d(text);
    m.states(d.root());
    CHECK(m.now().value == 0);
  }
  states(m, R"({"1":{"state":"running","value":null,"max":"x"}})");
  CHECK(m.now().value == 0);
  CHECK(m.now().current_node == "1");
}

TEST_CASE("a class belongs to the node that is current") {
  progress_meter m(3);
  states(m, R"({"1":{"state":"running","value":1,"max":4}})");
  m.set_class("KSampler");
  states(m, R"({"1":{"state":"running","value":2,"max":4}})");
  CHECK(m.now().current_node_class == "KSampler");
  states(m, R"({"1":{"state":"finished"},"2":{"state":"running","value":0,"max":1}})");
  CHECK_FALSE(m.now().current_node_class);
}

TEST_CASE("progress is written as the contract has it") {
  progress_meter m(4);
  std::string out;
  jobs::append_progress(out, m.now());
  CHECK(out == R"({"value":0,"nodes_done":0,"nodes_total":4,"current_node":null})");
  states(m, R"({"1":{"state":"finished"},"a\"b":{"state":"running","value":1,"max":2}})");
  m.set_class("X");
  out.clear();
  jobs::append_progress(out, m.now());
  CHECK(out ==
        R"({"value":0.375,"nodes_done":1,"nodes_total":4,"current_node":"a\"b","current_node_class":"X","step":1,)"
        R"("steps":2})");
}
