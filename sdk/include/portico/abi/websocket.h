/* portico/abi/websocket.h - whole messages over a WebSocket, accepted from a client or opened to an upstream.
 *
 * A websocket belongs to the loop of its exchange, or to the loop that called connect.  The server does the handshake,
 * masking, fragments, UTF-8 checks, ping, pong and the closing handshake.  Errors of ready, receive and send: E_CLOSED
 * the other end closed or was lost, E_UNREACHABLE, E_TIMEOUT no pong, E_PROTOCOL, E_LIMIT a message over the limit,
 * E_CANCELLED.  After an error only shutdown and close are left.  E_CLOSED from receive means that the connection has
 * really ended: the closing handshake is over and the other end has closed its socket too, or was cut.
 */
#ifndef PORTICO_ABI_WEBSOCKET_H
#define PORTICO_ABI_WEBSOCKET_H
#include "http.h"
#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_WEBSOCKET "portico.websocket/1"

typedef struct portico_websocket portico_websocket;

#define PORTICO_WS_TEXT 1
#define PORTICO_WS_BINARY 2

typedef struct portico_ws_options {
  uint32_t struct_size;
  uint32_t ping_ms;             /* a ping after this much silence, E_TIMEOUT after two of them; 0: the server's */
  uint32_t connect_ms;          /* connect only: until the handshake is done; 0: the server's */
  uint32_t reserved;
  size_t max_message;           /* bytes in one message, either way; 0: the server's */
  portico_str protocol;         /* accept: the one chosen; connect: those offered, comma-separated; may be empty */
  portico_str url;              /* connect only: "ws://host:port/path?query" */
  const portico_field *headers; /* connect only: more handshake headers */
  size_t header_count;
} portico_ws_options;

/* kind: PORTICO_WS_TEXT or _BINARY.  close_code: with E_CLOSED, the other end's code, 1006 if it sent none. */
typedef struct portico_message { int32_t kind, close_code; portico_str bytes; } portico_message;

typedef struct portico_websocket_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* [loop] Answers the upgrade request; never waits.  On OK the exchange has been given back and *out is held instead.
   * E_PROTOCOL: not an upgrade request; the exchange is untouched, answer it. */
  int32_t (PORTICO_CALL *accept)(portico_exchange *, const portico_ws_options *, portico_websocket **out);
  /* [loop] Starts to connect; never waits.  The options are copied.  E_ARGUMENT: bad URL or header. */
  int32_t (PORTICO_CALL *connect)(const portico_host *, const portico_ws_options *, portico_websocket **out);
  /* [loop] Waits for the handshake.  READY at once when accepted. */
  int32_t (PORTICO_CALL *ready)(portico_websocket *, portico_done, void *user);
  /* [loop] The next message; its bytes are valid until the next receive or close.  While no receive is pending, at most
   * one message is read ahead.  One receive at a time (E_STATE). */
  int32_t (PORTICO_CALL *receive)(portico_websocket *, portico_message *out, portico_done, void *user);
  /* [loop] Queues a copy as one message; completes as portico_http.write does.  One pending send at a time (E_STATE).
   * done NULL: nobody waits; E_LIMIT, and nothing queued, when the queue is above the high-water mark. */
  int32_t (PORTICO_CALL *send)(portico_websocket *, int32_t kind, portico_str bytes, portico_done, void *user);
  /* [loop] Completes what is pending with E_CANCELLED. */
  int32_t (PORTICO_CALL *cancel)(portico_websocket *);
  /* [loop] Gives the websocket back.  What is queued is still sent, then the closing handshake with this code and
   * reason (at most 123 bytes). */
  int32_t (PORTICO_CALL *close)(portico_websocket *, int32_t code, portico_str reason);
  /* [loop] Begins to close but keeps the websocket: what is queued is still sent, then the closing handshake.  send
   * fails with E_CLOSED from now on; receive goes on with what is still under way, then gives E_CLOSED once the
   * connection has ended (the other end has at most 5 s, then it is cut).  For a plugin that must not open a new
   * connection while the other end still has the old one.  Also after an error of ready, receive or send.
   * E_ARGUMENT: a code that must not be sent, or a bad reason.  E_STATE: shut down already. */
  int32_t (PORTICO_CALL *shutdown)(portico_websocket *, int32_t code, portico_str reason);
} portico_websocket_api;

#ifdef __cplusplus
}
#endif
#endif
