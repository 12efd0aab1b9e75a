#include "core/service/listing.hpp"

#include <catch2/catch.hpp>

using portico::plugin::description;
using portico::service::plugins_text;

TEST_CASE("a plugin is listed with all it says about itself") {
  description d;
  d.name = "jobs", d.version = "1.2.0", d.summary = "Runs jobs.", d.library = "/opt/jobs.so", d.build = "g++ 12",
  d.homepage = "https://jobs.test";
  d.enabled = true, d.needs_minor = 3;
  d.provides = {"jobs/1"}, d.needs = {"a/1", "b/2"}, d.uses = {"store/1"};
  d.lists_routes = true, d.routes = {"GET /jobs", "POST /jobs"};
  d.keys = {{"keep", "duration", "1d", "how long", false},
            {"upstream", "upstream", "", "which", true},
            {"x", "text", "", "", false}};
  CHECK(plugins_text(std::vector{d}, "/opt") ==
        "plugins by name are looked for in /opt\n"
        "\n"
        "jobs 1.2.0, enabled\n"
        "  summary    Runs jobs.\n"
        "  library    /opt/jobs.so\n"
        "  interface  1.3 or younger\n"
        "  build      g++ 12\n"
        "  homepage   https://jobs.test\n"
        "  routes     GET /jobs\n"
        "             POST /jobs\n"
        "  provides   jobs/1\n"
        "  needs      a/1, b/2\n"
        "  uses       store/1\n"
        "  keys\n"
        "    keep      duration, default 1d: how long\n"
        "    upstream  upstream, must be set: which\n"
        "    x         text, default empty\n");
}

TEST_CASE("a library that cannot be used is listed with the reason") {
  description d;
  d.name = "bad", d.library = "/opt/bad.so", d.error = "/opt/bad.so is not a portico plugin";
  CHECK(plugins_text(std::vector{d}, "/opt") ==
        "plugins by name are looked for in /opt\n"
        "\n"
        "bad, not enabled\n"
        "  error      /opt/bad.so is not a portico plugin\n"
        "  library    /opt/bad.so\n");
}

TEST_CASE("a plugin that does not list its routes is said not to") {
  description d;
  d.name = "x", d.version = "1", d.summary = "X.";
  CHECK_THAT(plugins_text(std::vector{d}, "/opt"),
             Catch::Contains("  routes     not listed; they are known once it has started\n"));
}

TEST_CASE("an empty folder is said to be empty") {
  CHECK(plugins_text({}, "/none") == "plugins by name are looked for in /none\nnone found\n");
}
