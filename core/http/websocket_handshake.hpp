// core/http/websocket_handshake.hpp - the words both sides of an upgrade say (RFC 6455, section 4).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/http/message.hpp"

namespace portico::http {

// A fresh Sec-WebSocket-Key.  Throws std::system_error when the system has no random bytes.
std::string make_websocket_key();
// The Sec-WebSocket-Accept that answers a key.
std::string websocket_accept(std::string_view key);

// Whether a request asks for version 13 of the protocol, with everything the RFC wants of it.
bool is_websocket_upgrade(const request_head&) noexcept;

// Whether one of the comma-separated members of the headers of that lower-case name is token; case ignored on request.
bool has_member(std::span<const field> headers, std::string_view name, std::string_view token,
                bool ignore_case) noexcept;

// Empty when an answer of status 101 agrees to what was asked, else what is wrong with it.  offered: comma-separated.
std::string_view websocket_answer_fault(std::span<const field> headers, std::string_view key,
                                        std::string_view offered) noexcept;

}  // namespace portico::http
