/* portico/abi/filter.h - code that runs before the handler of every route: rate limits, tenants, extra checks.
 *
 * Filters run in the order of [plugins] enabled, after the server's own gate (limits, CORS, origin, bearer token) and
 * only for requests that have a route.  A filter holds the exchange as a handler does.  It either answers it (begin,
 * write, finish, or abort), and nobody else sees it, or passes it on.  It may take its time and use timers, work and
 * calls in between.  It must not read the body: that is E_STATE.
 */
#ifndef PORTICO_ABI_FILTER_H
#define PORTICO_ABI_FILTER_H
#include "http.h"
#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_FILTER "portico.filter/1"

typedef struct portico_filter {
  uint32_t struct_size;
  uint32_t reserved;
  /* [start] Adds a filter; a plugin may add several.  fn is called [loop], on the exchange's loop. */
  int32_t (PORTICO_CALL *add)(const portico_host *, portico_on_request fn, void *user);
  /* [loop] Gives the exchange on to the next filter or to the route's handler, which is called later, never before this
   * has returned; this filter no longer holds it.  E_STATE: begun, or something is pending on it. */
  int32_t (PORTICO_CALL *pass)(portico_exchange *);
} portico_filter;

#ifdef __cplusplus
}
#endif
#endif
