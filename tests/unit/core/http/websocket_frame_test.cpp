#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/http/websocket_frame.hpp"

using namespace portico::http;
using event = websocket_decoder::event;

namespace {

constexpr mask_key key{0x37, 0xfa, 0x21, 0x3d};

std::string frame(opcode code, std::string payload, bool masked, bool final = true) {
  std::string out(frame_head(code, final, payload.size(), masked ? &key : nullptr).bytes());
  if (masked) apply_mask(payload.data(), payload.size(), key, 0);
  return out + payload;
}

std::string bytes(std::initializer_list<int> all) {
  std::string out;
  for (int b : all) out += static_cast<char>(b);
  return out;
}

// What a decoder makes of input that comes in pieces cut at the given offsets: one line per event.
std::vector<std::string> events(websocket_decoder& d, const std::string& input, std::vector<std::size_t> cuts = {}) {
  std::vector<std::string> all;
  cuts.push_back(input.size());
  std::size_t from = 0;
  for (std::size_t cut : cuts) {
    std::string_view piece = std::string_view(input).substr(from, cut - from);
    from = cut;
    for (event e = d.feed(piece); e != event::more; e = d.feed(piece)) {
      if (e == event::broken) return all.push_back("broken " + std::to_string(d.fault())), all;
      if (e == event::message) {
        std::vector<char> m;
        const bool text = d.text();
        d.take(m);
        all.push_back((text ? "text " : "binary ") + std::string(m.begin(), m.end()));
      } else if (e == event::close) {
        all.push_back("close " + std::to_string(d.close_code()) + " " + std::string(d.payload()));
      } else {
        all.push_back((e == event::ping ? "ping " : "pong ") + std::string(d.payload()));
      }
    }
    REQUIRE(piece.empty());
  }
  return all;
}

std::vector<std::string> server_reads(const std::string& input, std::size_t max = 1 << 20) {
  websocket_decoder d(websocket_role::server, max);
  return events(d, input);
}

}  // namespace

TEST_CASE("the examples of RFC 6455 section 5.7 decode to what it says") {
  using strings = std::vector<std::string>;
  {
    websocket_decoder d(websocket_role::client, 1 << 20);
    CHECK(events(d, bytes({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f})) == strings{"text Hello"});
    CHECK(events(d, bytes({0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f})) == strings{"text Hello"});
    CHECK(events(d, bytes({0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f})) == strings{"ping Hello"});
    CHECK(events(d, bytes({0x82, 0x7e, 0x01, 0x00}) + std::string(256, 'b')) ==
          strings{"binary " + std::string(256, 'b')});
    CHECK(events(d, bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}) + std::string(65536, 'b')) ==
          strings{"binary " + std::string(65536, 'b')});
  }
  CHECK(server_reads(bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58})) ==
        strings{"text Hello"});
}

TEST_CASE("a stream of frames decodes to the same events wherever it is cut in two") {
  const std::string input = frame(opcode::text, "gr\xc3\xbc\xc3\x9f ", true, false) + frame(opcode::ping, "p", true) +
                            frame(opcode::continuation, "dich", true) +
                            frame(opcode::binary, std::string(300, '\x01'), true) + frame(opcode::text, "", true) +
                            frame(opcode::pong, "", true) + frame(opcode::close, bytes({0x03, 0xe8}) + "bye", true);
  const std::vector<std::string> right{
      "ping p",        "text gr\xc3\xbc\xc3\x9f dich", "binary " + std::string(300, '\x01'), "text ", "pong ",
      "close 1000 bye"};
  REQUIRE(server_reads(input) == right);
  for (std::size_t cut = 0; cut <= input.size(); ++cut) {
    websocket_decoder d(websocket_role::server, 1 << 20);
    REQUIRE(events(d, input, {cut}) == right);
  }
  websocket_decoder d(websocket_role::server, 1 << 20);
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < input.size(); ++cut) every.push_back(cut);
  CHECK(events(d, input, every) == right);
}

TEST_CASE("frames that break the protocol are refused with 1002") {
  const std::vector<std::string> broken{"broken 1002"};
  CHECK(server_reads(frame(opcode::text, "unmasked", false)) == broken);
  CHECK(server_reads(bytes({0xc1, 0x80, 0, 0, 0, 0})) == broken);  // a reserved bit
  CHECK(server_reads(bytes({0x83, 0x80, 0, 0, 0, 0})) == broken);  // opcode 3
  CHECK(server_reads(bytes({0x8b, 0x80, 0, 0, 0, 0})) == broken);  // opcode 11
  CHECK(server_reads(bytes({0x09, 0x80, 0, 0, 0, 0})) == broken);  // a ping in fragments
  CHECK(server_reads(frame(opcode::ping, std::string(126, 'x'), true)) == broken);
  CHECK(server_reads(frame(opcode::continuation, "of nothing", true)) == broken);
  CHECK(server_reads(frame(opcode::text, "a", true, false) + frame(opcode::text, "b", true)) == broken);
  CHECK(server_reads(bytes({0x82, 0xfe, 0x00, 0x7d, 0, 0, 0, 0})) == broken);                    // 125 in two bytes
  CHECK(server_reads(bytes({0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0})) == broken);  // 65535 in eight
  CHECK(server_reads(bytes({0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})) == broken);     // the top bit
  CHECK(server_reads(frame(opcode::close, "x", true)) == broken);
  for (int code : {0, 999, 1004, 1005, 1006, 1015, 2000, 5000})
    CHECK(server_reads(frame(opcode::close, bytes({code >> 8, code & 0xff}), true)) == broken);
  websocket_decoder client(websocket_role::client, 1 << 20);
  CHECK(events(client, frame(opcode::text, "masked", true)) == broken);
}

TEST_CASE("text and close reasons that are not UTF-8 are refused with 1007, as soon as it is certain") {
  const std::vector<std::string> broken{"broken 1007"};
  CHECK(server_reads(frame(opcode::text, "\xc0\x80", true)) == broken);
  CHECK(server_reads(frame(opcode::text, "cut \xe2\x82", true)) == broken);
  CHECK(server_reads(frame(opcode::text, "\xed\xa0\x80", true)) == broken);
  CHECK(server_reads(frame(opcode::close, bytes({0x03, 0xe8}) + "\xff", true)) == broken);
  // The rest of the message is not waited for.
  websocket_decoder d(websocket_role::server, 1 << 20);
  CHECK(events(d, frame(opcode::text, "\xff" + std::string(1000, 'x'), true).substr(0, 9)) == broken);
  // A character may be cut by a fragment, and binary may hold anything.
  CHECK(server_reads(frame(opcode::text, "\xe2", true, false) + frame(opcode::continuation, "\x82\xac", true)) ==
        std::vector<std::string>{"text \xe2\x82\xac"});
  CHECK(server_reads(frame(opcode::binary, "\xff\xfe", true)) == std::vector<std::string>{"binary \xff\xfe"});
}

TEST_CASE("a message over the limit is refused with 1009 when its length is announced") {
  const std::vector<std::string> broken{"broken 1009"};
  CHECK(server_reads(frame(opcode::binary, std::string(10, 'x'), true), 10) ==
        std::vector<std::string>{"binary " + std::string(10, 'x')});
  CHECK(server_reads(frame(opcode::binary, std::string(11, 'x'), true).substr(0, 6), 10) == broken);
  CHECK(server_reads(frame(opcode::binary, std::string(6, 'x'), true, false) +
                         frame(opcode::continuation, std::string(5, 'x'), true),
                     10) == broken);
  // 2^62 bytes announced cost no memory.
  CHECK(server_reads(bytes({0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})) == broken);
  websocket_decoder all(websocket_role::server, static_cast<std::size_t>(-1));
  CHECK(events(all, bytes({0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5})).empty());
}

TEST_CASE("a close frame without a code reads as 1006") {
  CHECK(server_reads(frame(opcode::close, "", true)) == std::vector<std::string>{"close 1006 "});
}

TEST_CASE("a decoder that discards messages still tells of control frames") {
  websocket_decoder d(websocket_role::server, 10);
  d.discard_messages();
  CHECK(events(d, frame(opcode::binary, std::string(100, 'x'), true) + frame(opcode::ping, "p", true) +
                      frame(opcode::text, "\xff", true) + frame(opcode::close, "", true)) ==
        std::vector<std::string>{"ping p", "close 1006 "});
}

TEST_CASE("masking twice gives the bytes back at every offset and length") {
  for (std::size_t offset = 0; offset < 5; ++offset)
    for (std::size_t size = 0; size < 40; ++size) {
      std::string data(size, 'a');
      for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i * 7);
      std::string masked = data;
      apply_mask(masked.data(), size, key, offset);
      for (std::size_t i = 0; i < size; ++i)
        REQUIRE(static_cast<unsigned char>(masked[i]) == (static_cast<unsigned char>(data[i]) ^ key[(offset + i) % 4]));
      apply_mask(masked.data(), size, key, offset);
      REQUIRE(masked == data);
    }
}

TEST_CASE("a message of 64 MiB grows without copying it again and again") {
  websocket_decoder d(websocket_role::server, 64 << 20);
  const std::string head(frame_head(opcode::binary, true, 64 << 20, &key).bytes());
  std::string_view input = head;
  REQUIRE(d.feed(input) == event::more);
  const std::string piece(64 * 1024, 'z');
  event last = event::more;
  for (int i = 0; i < 1024; ++i) {
    REQUIRE(last == event::more);
    input = piece;
    last = d.feed(input);
  }
  REQUIRE(last == event::message);
  std::vector<char> m;
  d.take(m);
  CHECK(m.size() == 64u << 20);
  CHECK(m.capacity() == 64u << 20);  // what was announced, not the next power of two
}

TEST_CASE("noise is taken or refused, never more than it is") {
  std::uint32_t seed = 12345;
  const auto random = [&seed] { return seed = seed * 1664525u + 1013904223u, seed >> 8; };
  int broken = 0;
  for (int round = 0; round < 3000; ++round) {
    websocket_decoder d(round % 2 ? websocket_role::server : websocket_role::client, 1000);
    for (int piece = 0; piece < 20; ++piece) {
      std::string noise(random() % 40, '\0');
      for (char& c : noise) c = static_cast<char>(random());
      // A plausible beginning goes deeper than noise alone.
      if (noise.size() > 2 && random() % 2)
        noise[0] = static_cast<char>(0x81), noise[1] = static_cast<char>(random() % 130);
      std::string_view input = noise;
      event e = event::more;
      do e = d.feed(input);
      while (e != event::more && e != event::broken);
      if (e == event::broken) {
        REQUIRE((d.fault() == 1002 || d.fault() == 1007 || d.fault() == 1009));
        ++broken;
        break;
      }
      REQUIRE(input.empty());
    }
  }
  CHECK(broken > 2000);
}
