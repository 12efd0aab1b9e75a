// core/http/websocket_session.hpp - a websocket on a stream whose handshake is done.
#pragma once
#include <memory>
#include <string_view>

#include "core/http/byte_stream.hpp"
#include "core/http/websocket.hpp"
#include "core/http/websocket_frame.hpp"

namespace portico::http {

// On the stream's loop, which from now on belongs to the websocket.  received: bytes that came behind the handshake;
// copied.  When the websocket is closed the stream lives on until the closing handshake is over; it is then destroyed,
// so whoever made the stream knows by that.
std::unique_ptr<websocket> make_websocket(std::unique_ptr<byte_stream>, websocket_role, const websocket_options&,
                                          std::string_view received = {});

// Whether a shutdown may say this: a code for the wire and at most 123 bytes of UTF-8.
bool is_close_reason(int code, std::string_view reason) noexcept;

}  // namespace portico::http
