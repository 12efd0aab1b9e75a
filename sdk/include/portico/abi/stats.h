/* portico/abi/stats.h - numbers a plugin shows to the operator, and reading all of the server's.
 *
 * The server adds the plugin id as a label.  Its own numbers (requests, loops, pools, streams) belong to the plugin id
 * "portico".
 */
#ifndef PORTICO_ABI_STATS_H
#define PORTICO_ABI_STATS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_STATS "portico.stats/1"

#define PORTICO_COUNTER 0   /* record adds value, which is not negative */
#define PORTICO_GAUGE 1     /* record adds value */
#define PORTICO_HISTOGRAM 2 /* record observes value */

typedef struct portico_metric portico_metric;

/* One number as read.  A histogram reads as one entry for each bound (its count of values up to that bound), one with
 * bound INT64_MAX (the count of all), and one of kind PORTICO_COUNTER named "..._sum". */
typedef struct portico_stat {
  uint32_t struct_size;
  int32_t kind;
  portico_str plugin, name, help; /* views live as long as the host */
  int64_t bound;                  /* of a histogram's entry; else 0 */
  int64_t value;
} portico_stat;

typedef struct portico_stats {
  uint32_t struct_size;
  uint32_t reserved;
  /* [start] Defines a metric, name as "jobs_submitted_total" ([a-z][a-z0-9_]*, at most 64 bytes).  bounds: the
   * histogram's upper bounds in rising order, in the unit the name ends in; else NULL, 0.  Copied.  E_STATE: the name
   * is taken.  E_ARGUMENT: a bad name, kind or bounds. */
  int32_t (PORTICO_CALL *define)(const portico_host *, int32_t kind, const char *name, const char *help,
                                 const int64_t *bounds, size_t bound_count, portico_metric **out);
  /* [any] Cheap, without a lock. */
  void (PORTICO_CALL *record)(portico_metric *, int64_t value);
  /* [any] The index-th number of the whole server, in an order that is fixed once it serves.  out->struct_size is set
   * by the caller.  E_ABSENT: index is past the last one. */
  int32_t (PORTICO_CALL *read)(const portico_host *, uint32_t index, portico_stat *out);
} portico_stats;

#ifdef __cplusplus
}
#endif
#endif
