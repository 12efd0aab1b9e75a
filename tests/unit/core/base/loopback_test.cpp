#include "core/base/loopback.hpp"

#include <catch2/catch.hpp>

using namespace portico::base;

TEST_CASE("literals of the loopback networks are loopback") {
  for (const char* host : {"127.0.0.1", "127.255.255.254", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
                           "[::FFFF:7f00:1]", "0000:0000:0000:0000:0000:0000:0000:0001", "::0:1", "0::1"}) {
    INFO(host);
    CHECK(is_loopback_literal(host));
    CHECK(is_loopback_name(host));
  }
}

TEST_CASE("other addresses, names and malformed text are not loopback literals") {
  for (const char* host : {"",
                           "0.0.0.0",
                           "128.0.0.1",
                           "1270.0.0.1",
                           "127.0.0",
                           "127.1",
                           "0127.0.0.1",
                           "127.0.0.1.",
                           "127.0.0.1.5",
                           "127.0.0.256",
                           "127.00.0.1",
                           "2130706433",
                           "0x7f.0.0.1",
                           "::",
                           "::2",
                           "1::1",
                           "::1::",
                           "::1:",
                           ":1",
                           "[::1",
                           "::1]",
                           "[]",
                           "::ffff:128.0.0.1",
                           "::127.0.0.1",
                           "1:2:3:4:5:6:7:8:9",
                           "0:0:0:0:0:0:0:0:1",
                           "::00001",
                           "::g",
                           "::1%lo",
                           "localhost",
                           "127.0.0.1.example.test"}) {
    INFO(host);
    CHECK_FALSE(is_loopback_literal(host));
  }
}

TEST_CASE("localhost and the names below it are loopback names") {
  for (const char* host : {"localhost", "LOCALHOST", "localhost.", "a.localhost", "A.b.LocalHost."}) {
    INFO(host);
    CHECK(is_loopback_name(host));
  }
  for (const char* host : {"", ".", "localhos", "xlocalhost", ".localhost", "localhost.example.test", "localhost..",
                           "127.0.0.1.localhostx"}) {
    INFO(host);
    CHECK_FALSE(is_loopback_name(host));
  }
}
