/* plugins/comfy/store.h - the service "portico.store/1": what must outlive the process.
 * Provided by job_store_sqlite; used by jobs and uploads, which keep all of it in memory when nobody provides it.
 * The rules of portico/abi/service.h hold.
 *
 * A write that has a `done` is durable when it completes with OK: it survives the end of the process, and, as the
 * provider is configured, of the machine.  All writes of one process take effect in the order of their calls, on
 * whichever loops they were made.  Errors of writes: E_LIMIT no space is left, E_FAILED anything else; the provider logs
 * which, and nothing of that write is stored.
 * Visitors are called on the loop that asked, before `done`; what they are shown is borrowed until they return.
 * Times are microseconds since 1970-01-01 UTC; 0 is none.
 */
#ifndef PORTICO_STORE_H
#define PORTICO_STORE_H
#include <portico/abi.h>
#ifdef __cplusplus
extern "C" {
#endif

#define PORTICO_STORE "portico.store/1"

#define STORE_SUBMITTING 0 /* nobody knows yet whether ComfyUI took it */
#define STORE_ACTIVE 1     /* ComfyUI took it; how it ended is not known */
#define STORE_ENDED 2      /* it never changes again */

typedef struct store_job {
  uint32_t struct_size;
  int32_t phase;         /* STORE_* */
  uint8_t id[16];        /* a UUID's bytes; no two jobs share one */
  int64_t created;       /* no two jobs share one */
  int64_t started;       /* ended */
  int32_t status;        /* ended: how, 0 to 31, as the user numbers them */
  uint32_t nodes;
  int32_t has_metadata, has_priority, priority;
  int32_t reserved;
  portico_str metadata, graph; /* graph: size 0: not known, or not asked for */
  portico_str text;            /* ended: what it is answered with */
} store_job;

typedef struct store_asset {
  uint32_t struct_size;
  int32_t kind; /* as the user numbers them */
  portico_str id, hash, content_type, file_path, reference, target, tags;
  portico_str name, subfolder, folder; /* where ComfyUI has the bytes */
  portico_str disk_path;
  uint64_t size; /* bytes */
  int64_t disk_changed, created, expires;
} store_asset;

/* Which jobs a list shows: those created before `before`, newest first, at most `limit` of them; of those that have ended only
 * the ones whose status is a bit of `statuses`. */
typedef struct store_query {
  uint32_t struct_size;
  uint32_t statuses;
  int64_t before;
  uint32_t limit;
  uint32_t reserved;
} store_query;

typedef void (PORTICO_CALL *store_see_job)(void *user, const store_job *);
typedef void (PORTICO_CALL *store_see_asset)(void *user, const store_asset *);

typedef struct portico_store {
  uint32_t struct_size;
  uint32_t reserved;
  /* [start] Copies the value of that name into out: the one stored, else `size` bytes of out as they are, which are stored
   * then.  A stored one of another size is E_FAILED. */
  int32_t (PORTICO_CALL *value)(void *self, portico_str name, char *out, size_t size);
  /* [start] Shows every job that has not ended, with its graph, oldest first. */
  int32_t (PORTICO_CALL *open_jobs)(void *self, store_see_job, void *user);
  /* [start] When the newest job was created; 0: there is none. */
  int32_t (PORTICO_CALL *last_created)(void *self, int64_t *out);
  /* [start] Shows every asset that has not expired, oldest first. */
  int32_t (PORTICO_CALL *all_assets)(void *self, store_see_asset, void *user);

  /* [loop] Claims the key for 24 hours, unless its size is 0, and adds the job, both or neither.  Everything is copied.
   * E_STATE: the key is claimed already. */
  int32_t (PORTICO_CALL *submit)(void *self, const store_job *, portico_str key, portico_done, void *user);
  /* [loop] ComfyUI took it.  Not durable at once: what was submitted is looked up again after a restart. */
  int32_t (PORTICO_CALL *accepted)(void *self, const uint8_t id[16]);
  /* [loop] ComfyUI refused it, or never heard of it: the job is removed; the key too, unless keep_key is 1. */
  int32_t (PORTICO_CALL *removed)(void *self, const uint8_t id[16], int32_t keep_key, portico_done, void *user);
  /* [loop] It ended: phase, status, started and text are taken over.  Copied. */
  int32_t (PORTICO_CALL *ended)(void *self, const store_job *, portico_done, void *user);
  /* [loop] Shows the job of that id, with its graph when with_graph is 1; shows nothing: there is none. */
  int32_t (PORTICO_CALL *find)(void *self, const uint8_t id[16], int32_t with_graph, store_see_job, void *seen,
                               portico_done, void *user);
  /* [loop] Shows the jobs of a list, without their graphs.  Copied. */
  int32_t (PORTICO_CALL *list)(void *self, const store_query *, store_see_job, void *seen, portico_done, void *user);

  /* [loop] Stores the asset in place of one with its id.  Copied. */
  int32_t (PORTICO_CALL *put_asset)(void *self, const store_asset *, portico_done, void *user);
  /* [loop] No such asset: OK all the same.  Copied. */
  int32_t (PORTICO_CALL *remove_asset)(void *self, portico_str id, portico_done, void *user);
} portico_store;

#ifdef __cplusplus
}
#endif
#endif
