// portico/testing/server.hpp - a server for unit tests: loads one plugin or several into the test's own process, sends
// scripted requests, plays the upstreams, and moves the time.  No sockets, no threads, nothing that could be flaky.
//
//   #include <portico/testing/server.hpp>
//   portico::testing::server s;
//   s.load(&portico_query, {{"greeting", "Salut"}});
//   const auto c = s.get("/hello/Ada");            // c->status, c->body, c->header("content-type")
//   s.stop();                                      // throws if the plugin broke a rule or lets something go unreturned
//
// It holds the plugin to the interface: wrong loops, operations twice, headers that must not be sent.  What it cannot
// show are races between loops: all loops are turned by one thread.  All members: on the test's thread.
#pragma once
#include "base.hpp"
#include "calls.hpp"
#include "fake_server.hpp"
#include "http.hpp"
#include "lifecycle.hpp"
#include "websockets.hpp"
