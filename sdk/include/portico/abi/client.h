/* portico/abi/client.h - one HTTP call to another server, over this loop's pool of kept-alive connections.
 *
 * open, then write the body if there is one, head, read to the end, close.  A call belongs to the loop that opened it.
 * Errors of head, read and write: E_UNREACHABLE no connection (name, refused, connect time-out), E_TIMEOUT, E_CLOSED
 * the connection was lost, E_PROTOCOL the answer was not HTTP, E_CANCELLED.  After an error only close is left.
 * The server repeats a call by itself only if a kept connection turned out dead before any byte was answered, the
 * method is safe and no body was sent.  It follows no redirects and decodes no content coding.
 */
#ifndef PORTICO_ABI_CLIENT_H
#define PORTICO_ABI_CLIENT_H
#include "http.h"
#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_CLIENT "portico.client/1"

typedef struct portico_call portico_call;

/* Times are in milliseconds and run while the other server is waited for; 0: what its [upstream.NAME] section says, for
 * total_ms none. */
typedef struct portico_call_options {
  uint32_t struct_size;
  uint32_t connect_ms;          /* until connected, the wait for a pooled connection included */
  uint32_t idle_ms;             /* without a byte in either direction, once connected; also until the answer's head */
  uint32_t total_ms;            /* from open to the end of the answer's body */
  portico_str method, url;      /* "http://host:port/path?query", percent-encoded; user info becomes Basic auth */
  const portico_field *headers; /* host, content-length, transfer-encoding and connection are the server's */
  size_t header_count;
  int64_t content_length;       /* of the body to be written; 0: none, -1: not known, sent in chunks */
} portico_call_options;

/* The answer's head, held by the server; valid until close. */
typedef struct portico_head {
  uint32_t struct_size;
  int32_t status;
  const portico_field *headers; /* names in lower case; framing and connection headers are left out */
  size_t header_count;
  int64_t content_length;       /* -1: not known */
} portico_head;

/* How a pipe ended: the status of each side, and the bytes that were passed on. */
typedef struct portico_pipe { int32_t source, sink; int64_t bytes; } portico_pipe;

typedef struct portico_client {
  uint32_t struct_size;
  uint32_t reserved;
  /* [loop] Starts a call; never waits.  The options are copied.  E_ARGUMENT: bad URL, method or header. */
  int32_t (PORTICO_CALL *open)(const portico_host *, const portico_call_options *, portico_call **out);
  /* [loop] As portico_http.write, with a done.  E_CLOSED also when the answer came before the body was taken: stop
   * writing and read the head. */
  int32_t (PORTICO_CALL *write)(portico_call *, portico_str bytes, portico_done, void *user);
  /* [loop] The body is complete.  Needed only with content_length -1. */
  int32_t (PORTICO_CALL *end)(portico_call *);
  /* [loop] Waits for the final answer's head.  Once per call (E_STATE). */
  int32_t (PORTICO_CALL *head)(portico_call *, const portico_head **out, portico_done, void *user);
  /* [loop] As portico_http.read, on the answer's body, after head. */
  int32_t (PORTICO_CALL *read)(portico_call *, size_t max, portico_str *chunk, portico_done, void *user);
  /* [loop] Passes the request body of x on as the call's body, to its end, without crossing into the plugin.  Counts as
   * the pending read of x and the pending write of the call.  done's status is source's if not OK, else sink's. */
  int32_t (PORTICO_CALL *pipe_request)(portico_call *, portico_exchange *x, portico_pipe *, portico_done, void *user);
  /* [loop] Passes the answer's body on as the response body of x, begun already; does not finish x.  Counts as the
   * pending read of the call and the pending write of x. */
  int32_t (PORTICO_CALL *pipe_response)(portico_exchange *x, portico_call *, portico_pipe *, portico_done, void *user);
  /* [loop] Completes what is pending on the call with E_CANCELLED. */
  int32_t (PORTICO_CALL *cancel)(portico_call *);
  /* [loop] Gives the call back.  Its connection is kept if the answer was read to the end, else closed. */
  int32_t (PORTICO_CALL *close)(portico_call *);
} portico_client;

#ifdef __cplusplus
}
#endif
#endif
