// The accepting side of a websocket: exchange::accept_websocket.
#include <array>
#include <string>

#include "core/http/byte_stream.hpp"
#include "core/http/exchange.hpp"
#include "core/http/websocket.hpp"
#include "core/http/websocket_handshake.hpp"
#include "core/http/websocket_session.hpp"

namespace portico::http {

base::status exchange::accept_websocket(const websocket_options& options, std::unique_ptr<websocket>* out) {
  const request_head& asked = head();
  if (!is_websocket_upgrade(asked)) return base::protocol;
  const std::string answer = websocket_accept(asked.header("sec-websocket-key"));
  std::array<field, 2> headers{{{"sec-websocket-accept", answer}, {"sec-websocket-protocol", options.protocol}}};
  // A client fails the connection over a protocol it did not offer; without the header it may still go on.
  const bool agreed =
      !options.protocol.empty() && has_member(asked.headers, "sec-websocket-protocol", options.protocol, false);
  std::unique_ptr<byte_stream> stream;
  if (const base::status s = upgrade("websocket", std::span(headers).first(agreed ? 2 : 1), &stream); s != base::ok)
    return s;
  *out = make_websocket(std::move(stream), websocket_role::server, options);
  return base::ok;
}

}  // namespace portico::http
