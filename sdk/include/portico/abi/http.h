/* portico/abi/http.h - routes, and the exchange: one request and its response.
 *
 * An exchange belongs to the loop that accepted its connection; everything about it happens there.  The plugin holds
 * it from on_request until finish, abort or websocket accept.  A client that goes away ends nothing by itself: it
 * completes what is pending with E_CLOSED, and the plugin still gives the exchange back.
 * The server owns framing.  It answers 400, 401, 403, 404, 405, 413 and OPTIONS itself, sends `100 Continue` at the
 * first read, chooses chunks or a length, drops the body of a HEAD answer, and keeps or closes the connection.
 */
#ifndef PORTICO_ABI_HTTP_H
#define PORTICO_ABI_HTTP_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_HTTP "portico.http/1"

typedef struct portico_exchange portico_exchange;

/* The request head, complete before on_request.  Valid until the exchange (or the websocket it became) is given
 * back. */
typedef struct portico_request {
  uint32_t struct_size;
  uint32_t loop;             /* the index of the loop that owns the exchange */
  portico_str id;            /* unique in the life of the server; also in its log */
  portico_str method;        /* "GET", ...; "HEAD" also when a GET route serves it */
  portico_str path;          /* as received, percent-encoded, begins with '/' */
  portico_str query;         /* as received, without '?'; size 0 when absent */
  portico_str scheme;        /* "http" or "https" */
  portico_str authority;     /* of the absolute-form target, else the Host header; checked for syntax */
  portico_str base_url;      /* "scheme://authority" as the client sees this server: what absolute links begin with */
  portico_str token_id;      /* the name of the bearer token that let the request in; size 0 when none was asked for */
  portico_str peer;          /* numeric address: "192.0.2.7", "2001:db8::1" */
  uint32_t peer_port;
  uint32_t header_count;
  const portico_field *headers; /* in order of arrival; names in lower case, values trimmed */
  const portico_field *params;  /* of the route pattern, in its order; values percent-decoded */
  uint32_t param_count;
  uint32_t reserved;
  int64_t content_length;    /* of the request body; 0: none, -1: not known in advance */
} portico_request;

/* [loop] A request for one of the plugin's routes has arrived. */
typedef void (PORTICO_CALL *portico_on_request)(void *user, portico_exchange *, const portico_request *);

#define PORTICO_ROUTE_OPEN 1u /* served without a bearer token even when the server has one set */

typedef struct portico_route {
  uint32_t struct_size;
  uint32_t flags;      /* PORTICO_ROUTE_*; other bits are E_ARGUMENT */
  const char *method;  /* "GET" also serves HEAD, unless a HEAD route exists */
  const char *pattern; /* "/jobs/{id}"; "{name...}" at the end takes the rest, slashes included */
  int64_t max_body;    /* bytes; -1: the server's limit.  More is 413, or E_LIMIT from read if not known ahead */
  portico_on_request on_request;
  void *user;
} portico_route;

typedef struct portico_http {
  uint32_t struct_size;
  uint32_t reserved;
  /* [start] The strings are copied.  E_STATE: another plugin has this route; the server names both. */
  int32_t (PORTICO_CALL *route)(const portico_host *, const portico_route *);
  /* [loop] The next piece of the request body, at most max bytes (0: the server chooses), into *chunk; size 0 at the
   * end, and again after it.  The view is valid until the next read or until the exchange is given back.  While no
   * read is pending nothing is taken from the socket.  One read at a time (E_STATE). */
  int32_t (PORTICO_CALL *read)(portico_exchange *, size_t max, portico_str *chunk, portico_done, void *user);
  /* [loop] Status 200..599, headers, and the body's length in bytes (-1: not known).  All is copied.  E_ARGUMENT, and
   * nothing sent: a bad name or value, or a header the server owns (content-length, transfer-encoding, connection).  A
   * date is left out, as the server says its own. */
  int32_t (PORTICO_CALL *begin)(portico_exchange *, int32_t status, const portico_field *headers, size_t count,
                                int64_t content_length);
  /* [loop] Queues a copy of the bytes.  READY while the queue is below the high-water mark; else done comes when it
   * has fallen below.  Writes of one loop turn leave together at its end.  One pending write at a time (E_STATE).
   * done NULL: nobody waits; E_LIMIT, and nothing queued, when the queue is above the mark. */
  int32_t (PORTICO_CALL *write)(portico_exchange *, portico_str bytes, portico_done, void *user);
  /* [loop] Ends the response and gives the exchange back; what is queued is still sent.  Fewer bytes than promised,
   * or no begin, are a logged fault: the connection closes, or 500 is sent, and the exchange is given back. */
  int32_t (PORTICO_CALL *finish)(portico_exchange *);
  /* [loop] Gives the exchange back and resets the connection, so that the client sees the response as incomplete. */
  int32_t (PORTICO_CALL *abort)(portico_exchange *);
  /* [loop] Completes what is pending on the exchange with E_CANCELLED; no byte is lost, and it stays usable. */
  int32_t (PORTICO_CALL *cancel)(portico_exchange *);
  /* [loop] Asks to be told, at most once, that the answer is no longer wanted: E_CLOSED the client went, E_TIMEOUT the
   * deadline passed, E_CANCELLED the plugin is stopping.  If that has happened already, fn is called in a later turn.
   * Never called after the exchange was given back.  A second call replaces the first; fn NULL: do not tell. */
  int32_t (PORTICO_CALL *on_close)(portico_exchange *, portico_done fn, void *user);
  /* [loop] Sets the deadline, ms from now; 0: none (the default).  When it passes, a pending read completes with
   * E_TIMEOUT and on_close is told; the answer can still be written. */
  int32_t (PORTICO_CALL *deadline)(portico_exchange *, uint32_t ms);
  /* [loop] As write, with size bytes of an open file from offset on, which are not copied where the system can do
   * without.  file: a descriptor (Windows: a HANDLE); it stays the plugin's, open and unchanged until done.  READY: all
   * of it was taken; else done comes when it was.  E_CLOSED also when the file proves shorter or cannot be read, as the
   * connection is closed then.  After E_CANCELLED in the middle only abort is left.  The loop reads the file, so have
   * work read ahead what is not in the system's memory: a disk must not hold a loop up. */
  int32_t (PORTICO_CALL *send_file)(portico_exchange *, int64_t file, uint64_t offset, uint64_t size, portico_done,
                                    void *user);
} portico_http;

#ifdef __cplusplus
}
#endif
#endif
