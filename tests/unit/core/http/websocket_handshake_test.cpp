#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/http/websocket_handshake.hpp"

using namespace portico::http;

namespace {

using fields = std::vector<field>;

const fields good{{"host", "a"},
                  {"connection", "keep-alive, Upgrade"},
                  {"upgrade", "WebSocket"},
                  {"sec-websocket-version", "13"},
                  {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}};

bool asks(fields f, std::string_view method = "GET", int minor = 1, std::int64_t length = 0) {
  request_head head;
  head.method = method;
  head.minor_version = minor;
  head.content_length = length;
  head.headers = f;
  return is_websocket_upgrade(head);
}

fields with(fields f, std::string_view name, std::string_view value) {
  for (field& one : f)
    if (one.name == name) one.value = value;
  return f;
}

fields without(fields f, std::string_view name) {
  std::erase_if(f, [&](const field& one) { return one.name == name; });
  return f;
}

}  // namespace

TEST_CASE("the accept value of RFC 6455's example key is the RFC's") {
  CHECK(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("keys are 24 characters that a server takes, and do not repeat") {
  std::set<std::string> all;
  for (int i = 0; i < 100; ++i) {
    const std::string key = make_websocket_key();
    CHECK(asks(with(good, "sec-websocket-key", key)));
    all.insert(key);
  }
  CHECK(all.size() == 100);
}

TEST_CASE("an upgrade request needs everything RFC 6455 section 4.2.1 wants") {
  CHECK(asks(good));
  CHECK_FALSE(asks(good, "POST"));
  CHECK_FALSE(asks(good, "GET", 0));
  CHECK_FALSE(asks(good, "GET", 1, 5));
  CHECK_FALSE(asks(good, "GET", 1, -1));
  for (const char* name : {"connection", "upgrade", "sec-websocket-version", "sec-websocket-key"})
    CHECK_FALSE(asks(without(good, name)));
  CHECK_FALSE(asks(with(good, "connection", "keep-alive")));
  CHECK_FALSE(asks(with(good, "upgrade", "h2c")));
  CHECK_FALSE(asks(with(good, "sec-websocket-version", "8")));
  for (const char* key :
       {"", "short", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25j!Q=="})
    CHECK_FALSE(asks(with(good, "sec-websocket-key", key)));
  fields twice = good;
  twice.push_back({"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="});
  CHECK_FALSE(asks(twice));
  // Header lines of one name are one list.
  fields split = with(good, "connection", "keep-alive");
  split.push_back({"connection", "upgrade"});
  CHECK(asks(split));
}

TEST_CASE("an answer must prove that it read the key, and choose only what was offered") {
  const std::string key = make_websocket_key(), accept = websocket_accept(key);
  const fields answer{{"connection", "Upgrade"}, {"upgrade", "websocket"}, {"sec-websocket-accept", accept}};
  CHECK(websocket_answer_fault(answer, key, "").empty());
  CHECK_FALSE(websocket_answer_fault(answer, make_websocket_key(), "").empty());
  for (const field& f : answer) CHECK_FALSE(websocket_answer_fault(without(answer, f.name), key, "").empty());
  fields more = answer;
  more.push_back({"sec-websocket-protocol", "b"});
  CHECK(websocket_answer_fault(more, key, "a, b").empty());
  CHECK_FALSE(websocket_answer_fault(more, key, "a, B").empty());
  CHECK_FALSE(websocket_answer_fault(more, key, "").empty());
  more = answer;
  more.push_back({"sec-websocket-extensions", "permessage-deflate"});
  CHECK_FALSE(websocket_answer_fault(more, key, "").empty());
}
