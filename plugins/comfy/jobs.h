/* plugins/comfy/jobs.h - the service "comfy.jobs/1": one job's events as they come.
 * Provided by jobs; used by events.  The rules of portico/abi/service.h hold.
 *
 * A subscription belongs to the loop that opened it.  Each has a bounded queue of its own: of progress and preview only
 * the newest is kept; status and output are never dropped.  Events come ready as JSON text of the contract.
 */
#ifndef COMFY_JOBS_H
#define COMFY_JOBS_H
#include <portico/abi.h>
#ifdef __cplusplus
extern "C" {
#endif

#define COMFY_JOBS "comfy.jobs/1"

#define COMFY_EVENT_STATUS 0   /* {"status":..., "queue_position"?:...} */
#define COMFY_EVENT_PROGRESS 1 /* a Progress object */
#define COMFY_EVENT_PREVIEW 2  /* {"node_id","content_type","data_base64"} */
#define COMFY_EVENT_OUTPUT 3   /* an Output object */

/* kind: COMFY_EVENT_*.  terminal: 1 with the last status; nothing comes after it.  data: valid until the next call of
 * next. */
typedef struct comfy_event {
  uint32_t struct_size;
  int32_t kind, terminal;
  uint32_t reserved;
  portico_str data;
} comfy_event;

typedef struct comfy_subscription comfy_subscription;

typedef struct comfy_jobs {
  uint32_t struct_size;
  uint32_t reserved;
  /* [loop] Finds the job and subscribes to it.  base_url is what links in output events begin with; it and job_id are
   * copied.  E_ABSENT: no such job.  E_UNREACHABLE: ComfyUI could not be asked.  E_PROTOCOL: its answer made no sense.
   * On success *out is held until unsubscribe. */
  int32_t (PORTICO_CALL *subscribe)(void *self, portico_str job_id, portico_str base_url, comfy_subscription **out,
                                    portico_done, void *user);
  /* [loop] The next event: first the present status, then the latest progress and preview, what outputs there are, then
   * what happens, the terminal status last; of a job that has ended only its outputs and that status.  E_CLOSED after
   * it.  out->struct_size is set by the caller.  One at a time (E_STATE). */
  int32_t (PORTICO_CALL *next)(void *self, comfy_subscription *, comfy_event *out, portico_done, void *user);
  /* [loop] Completes a pending next with E_CANCELLED. */
  int32_t (PORTICO_CALL *cancel)(void *self, comfy_subscription *);
  /* [loop] Gives the subscription back.  E_STATE while next is pending. */
  int32_t (PORTICO_CALL *unsubscribe)(void *self, comfy_subscription *);
} comfy_jobs;

#ifdef __cplusplus
}
#endif
#endif
