#include "core/base/address.hpp"

#include <catch2/catch.hpp>

using namespace portico::base;

TEST_CASE("addresses are read in the forms of RFC 4291 and no other") {
  CHECK(parse_address("192.0.2.1")->is_v4());
  CHECK(*parse_address("::ffff:192.0.2.1") == *parse_address("192.0.2.1"));
  CHECK(*parse_address("2001:db8::1") == *parse_address("2001:0DB8:0:0:0:0:0:1"));
  CHECK_FALSE(parse_address("2001:db8::1")->is_v4());
  for (const char* none : {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.4 ", "::1::", ":::", "1:2",
                           "[::1]", "localhost", "1.2.3.4:80", "::g", "1:2:3:4:5:6:7:8:9"}) {
    INFO(none);
    CHECK_FALSE(parse_address(none));
  }
}

TEST_CASE("a network holds the addresses that begin as it does") {
  CHECK(parse_network("10.0.0.0/8")->contains(*parse_address("10.255.0.1")));
  CHECK_FALSE(parse_network("10.0.0.0/8")->contains(*parse_address("11.0.0.1")));
  CHECK(parse_network("10.0.0.0/8")->contains(*parse_address("::ffff:10.1.2.3")));
  CHECK(parse_network("2001:db8::/33")->contains(*parse_address("2001:db8:7fff::1")));
  CHECK_FALSE(parse_network("2001:db8::/33")->contains(*parse_address("2001:db8:8000::1")));
  CHECK(parse_network("192.0.2.1")->contains(*parse_address("192.0.2.1")));
  CHECK_FALSE(parse_network("192.0.2.1")->contains(*parse_address("192.0.2.2")));
  CHECK(parse_network("0.0.0.0/0")->contains(*parse_address("192.0.2.2")));
  CHECK_FALSE(parse_network("0.0.0.0/0")->contains(*parse_address("::1")));
  CHECK(parse_network("::/0")->contains(*parse_address("::1")));
  for (const char* none : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.1/8", "::1/64",
                           "::/129", "10.0.0.0/8/8", "a/8"}) {
    INFO(none);
    CHECK_FALSE(parse_network(none));
  }
}

TEST_CASE("a client is an IPv4 address, or an IPv6 subscriber's /64") {
  CHECK_FALSE(client_of(*parse_address("192.0.2.1")) == client_of(*parse_address("192.0.2.2")));
  CHECK(client_of(*parse_address("2001:db8::1")) == client_of(*parse_address("2001:db8::ffff:1:2:3")));
  CHECK_FALSE(client_of(*parse_address("2001:db8::1")) == client_of(*parse_address("2001:db8:0:1::1")));
}
