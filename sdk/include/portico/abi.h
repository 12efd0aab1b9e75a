/* portico/abi.h - the contract between the portico server and a plugin.  C11 and C++20, no dependencies.
 * Read this first, then abi/plugin.h and abi/http.h; every other capability has one short header in abi/.
 *
 * Threads.  The server turns loop_count event loops, one thread each.  Each function and callback has one tag:
 *   [start]  inside the plugin's start(): on loop 0, before anything is served; may block
 *   [loop]   on a loop; must not block.  A function that takes an object (exchange, call, websocket, op) is called
 *            on the loop that owns the object; one that takes only the host may be called on any loop, and what it
 *            starts is owned by that loop for life.  Callbacks run on the owning loop.  start() and stop() run on
 *            loop 0, so [loop] functions are allowed there.
 *   [work]   on a pool thread; may block; may call only [any] functions
 *   [any]    on any thread, also one of the plugin's own
 *   A checking build of the server (PORTICO_CHECK_TAGS) ends the process on a breach, naming function and tag.  Any
 *   server answers a handle that is not held, or used on the wrong loop, with E_STATE and a line in the log.
 * Memory.  Nobody frees what the other side allocated.  Arguments are borrowed until the call returns.  A result
 *   goes into storage of the caller, kept until `done`; each function says how long views in it stay valid.
 * Errors.  int32_t: negative is one of PORTICO_E_*.  No exception may leave a callback.
 * Completion.  A function with a `done` ends in exactly one of three ways: it returns an error; it returns
 *   PORTICO_READY, having completed already; or it returns PORTICO_OK and calls `done` once, later, on the owning
 *   loop, never before it has itself returned.  No other function ever calls back before it returns.
 * Giving back.  Exchanges, calls and websockets are held until the plugin gives them back, exactly once.  That is
 *   refused with E_STATE while an operation on the object is pending: cancel it and wait for its `done`.
 * Stop.  The server lets requests finish for its grace period, then calls stop(), then completes every pending
 *   operation with E_CANCELLED.  From then on what would wait, and every new call or websocket, fails at once with
 *   E_CANCELLED; begin, write, finish, abort, close, post and log still work.  destroy() comes when the plugin holds
 *   nothing and every loop has turned once more since, so that none is still on its way out of the plugin.  Users of
 *   a service are stopped, drained and destroyed before its provider.
 * Growth.  Tables and structs with a struct_size grow only at the end; the others are frozen.  No member ever
 *   changes meaning, owner or tag.  What needs another meaning gets another id ("portico.http/2").
 */
/* clang-format off */
#ifndef PORTICO_ABI_H
#define PORTICO_ABI_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define PORTICO_EXPORT __declspec(dllexport)
#define PORTICO_CALL __cdecl
#else
#define PORTICO_EXPORT __attribute__((visibility("default")))
#define PORTICO_CALL
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_ABI_MAJOR 1
#define PORTICO_ABI_MINOR 0

/* True when the table or struct the other side gave us is long enough to hold `member`. */
#define PORTICO_HAS(table, type, member) \
  ((table)->struct_size >= offsetof(type, member) + sizeof(((type *)0)->member))

#define PORTICO_OK 0
#define PORTICO_READY 1            /* completed already; `done` will not be called */
#define PORTICO_E_CLOSED (-1)      /* the other end has gone */
#define PORTICO_E_CANCELLED (-2)   /* cancelled by the plugin, or the plugin is stopping */
#define PORTICO_E_TIMEOUT (-3)     /* a deadline passed */
#define PORTICO_E_ARGUMENT (-4)    /* the caller's mistake; the server logs which */
#define PORTICO_E_STATE (-5)       /* right call, wrong moment (a second begin, a second read) */
#define PORTICO_E_LIMIT (-6)       /* a configured limit was reached; trying later may help */
#define PORTICO_E_FAILED (-7)      /* anything else; the server logs what */
#define PORTICO_E_ABSENT (-8)      /* no such setting or service */
#define PORTICO_E_UNREACHABLE (-9) /* no connection could be made */
#define PORTICO_E_PROTOCOL (-10)   /* the other end broke the protocol */

typedef struct portico_str { const char *data; size_t size; } portico_str; /* bytes; text is UTF-8; no NUL needed */
typedef struct portico_field { portico_str name, value; } portico_field;   /* a header, or a route parameter */
typedef struct portico_error { int32_t code; char text[2044]; } portico_error; /* text ends in NUL; fits two paths */
typedef struct portico_host portico_host;
typedef uint64_t portico_op; /* one pending timer or work item; 0 is none, and none is ever reused */
typedef void (PORTICO_CALL *portico_fn)(void *user);
typedef void (PORTICO_CALL *portico_done)(void *user, int32_t status);

/* The value of a setting.  text ends in NUL; views live as long as the host. */
typedef struct portico_value { portico_str text; int64_t number; } portico_value;

#define PORTICO_LOG_DEBUG 0
#define PORTICO_LOG_INFO 1
#define PORTICO_LOG_WARNING 2
#define PORTICO_LOG_ERROR 3

/* What the server gives one plugin instance.  Valid from create() until destroy() returns. */
struct portico_host {
  uint32_t struct_size;
  uint32_t abi_minor;  /* the server's */
  uint32_t loop_count; /* loops are numbered 0 .. loop_count - 1; fixed for the life of the instance */
  uint32_t reserved;
  void *state; /* the server's own */
  /* [any] One line for the log; the server adds time, plugin id and loop. */
  void (PORTICO_CALL *log)(const portico_host *, int32_t level, portico_str text);
  /* [any] The validated value of a declared setting; E_ABSENT for an undeclared one. */
  int32_t (PORTICO_CALL *setting)(const portico_host *, const char *name, portico_value *out);
  /* [any] The table of a capability such as "portico.http/1", as long-lived as the host; NULL: not here. */
  const void *(PORTICO_CALL *find)(const portico_host *, const char *capability);
  /* [any] The index of the loop this thread turns, or -1. */
  int32_t (PORTICO_CALL *loop_index)(const portico_host *);
  /* [any] Calls fn once on that loop, in order of posting, and always later when posted from the same loop (from
   * another thread it may run before post returns).  Counts as held until it has run.  E_ARGUMENT: no such loop. */
  int32_t (PORTICO_CALL *post)(const portico_host *, uint32_t loop, portico_fn fn, void *user);
  /* [any] Counts one thing the server cannot see (a detached task, a service call); delays destroy(). */
  void (PORTICO_CALL *hold)(const portico_host *);
  void (PORTICO_CALL *release)(const portico_host *);
  /* [loop] Hastens the op's `done` (E_CANCELLED), never replaces it.  E_STATE: already over; harmless. */
  int32_t (PORTICO_CALL *cancel)(const portico_host *, portico_op op);
};

#ifdef __cplusplus
}
#endif
#endif
