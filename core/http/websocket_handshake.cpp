#include "core/http/websocket_handshake.hpp"

#include <sha1.h>

#include <algorithm>
#include <array>

#include "core/base/base64.hpp"
#include "core/base/system.hpp"
#include "core/base/text.hpp"

namespace portico::http {
namespace {

// Calls fn for each member of a comma-separated list until it says true.
template <class F>
bool any_member(std::string_view list, F fn) {
  while (!list.empty()) {
    const std::string_view member = base::trim(base::cut(list, ','));
    if (!member.empty() && fn(member)) return true;
  }
  return false;
}

std::size_t count(std::span<const field> headers, std::string_view name) noexcept {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(), [&](const field& f) { return f.name == name; }));
}

std::string_view value(std::span<const field> headers, std::string_view name) noexcept {
  for (const field& f : headers)
    if (f.name == name) return f.value;
  return {};
}

// 16 bytes in base64: 22 digits, the last of which carries two bits, and "==".
bool is_key(std::string_view key) noexcept {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return key.size() == 24 && key.substr(22) == "==" && key.substr(0, 22).find_first_not_of(digits) == key.npos &&
         std::string_view("AQgw").find(key[21]) != std::string_view::npos;
}

}  // namespace

std::string make_websocket_key() {
  std::array<unsigned char, 16> bytes;
  base::random_bytes(bytes);
  return base::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string websocket_accept(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<std::uint8_t, SHA1_DIGEST_LENGTH> digest;
  SHA1_CTX sha;
  SHA1Init(&sha);
  SHA1Update(&sha, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  SHA1Final(digest.data(), &sha);
  return base::base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool has_member(std::span<const field> headers, std::string_view name, std::string_view token,
                bool ignore_case) noexcept {
  for (const field& f : headers)
    if (f.name == name && any_member(f.value, [&](std::string_view member) {
          return ignore_case ? base::equal_ignoring_case(member, token) : member == token;
        }))
      return true;
  return false;
}

bool is_websocket_upgrade(const request_head& head) noexcept {
  return head.method == "GET" && head.minor_version >= 1 && head.content_length == 0 &&
         has_member(head.headers, "connection", "upgrade", true) &&
         has_member(head.headers, "upgrade", "websocket", true) && count(head.headers, "sec-websocket-version") == 1 &&
         head.header("sec-websocket-version") == "13" && count(head.headers, "sec-websocket-key") == 1 &&
         is_key(head.header("sec-websocket-key"));
}

std::string_view websocket_answer_fault(std::span<const field> headers, std::string_view key,
                                        std::string_view offered) noexcept {
  if (!has_member(headers, "connection", "upgrade", true) || !has_member(headers, "upgrade", "websocket", true))
    return "the answer does not say Connection: upgrade and Upgrade: websocket";
  if (count(headers, "sec-websocket-accept") != 1 || value(headers, "sec-websocket-accept") != websocket_accept(key))
    return "Sec-WebSocket-Accept does not answer the key";
  if (count(headers, "sec-websocket-extensions") != 0) return "an extension that was not offered";
  const std::string_view chosen = value(headers, "sec-websocket-protocol");
  if (count(headers, "sec-websocket-protocol") > 1 ||
      (!chosen.empty() && !any_member(offered, [&](std::string_view member) { return member == chosen; })))
    return "a subprotocol that was not offered";
  return {};
}

}  // namespace portico::http
