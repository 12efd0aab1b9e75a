#include "plugins/events/frame.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "plugins/comfy/jobs.h"
#include "plugins/events/places.hpp"

TEST_CASE("a frame is a name from a fixed list and one line of data") {
  std::string out = "left over";
  events::write_frame(out, COMFY_EVENT_OUTPUT, "{\"a\":1}");
  CHECK(out == "event: output\ndata: {\"a\":1}\n\n");
  events::write_frame(out, COMFY_EVENT_STATUS, "{}");
  CHECK(out == "event: status\ndata: {}\n\n");
  CHECK(events::name_of(COMFY_EVENT_PROGRESS) == "progress");
  CHECK(events::name_of(COMFY_EVENT_PREVIEW) == "preview");
}

TEST_CASE("a place is one of a limited number, and free when it is given up") {
  events::places p(2);
  auto a = std::make_unique<events::places::place>(p), b = std::make_unique<events::places::place>(p);
  CHECK((*a && *b));
  CHECK(p.full());
  {
    const events::places::place c(p);
    CHECK_FALSE(c);
  }
  CHECK(p.taken() == 2);
  a.reset();
  CHECK_FALSE(p.full());
  CHECK(events::places::place(p));
  CHECK(p.taken() == 1);
}

TEST_CASE("a limit of nothing is no limit") {
  events::places p(0);
  std::vector<std::unique_ptr<events::places::place>> many;
  for (int i = 0; i < 5000; ++i) many.push_back(std::make_unique<events::places::place>(p));
  CHECK(*many.back());
  CHECK_FALSE(p.full());
}
