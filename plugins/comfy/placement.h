/* plugins/comfy/placement.h - the service "comfy.placement/1": checks a model file and puts it in its place on disk.
 * Provided by model_upload; used by uploads.  The rules of portico/abi/service.h hold. */
#ifndef COMFY_PLACEMENT_H
#define COMFY_PLACEMENT_H
#include <portico/abi.h>
#ifdef __cplusplus
extern "C" {
#endif

#define COMFY_PLACEMENT "comfy.placement/1"

/* A file that is open for reading, and where it should go below <base_dir>/models. */
typedef struct comfy_candidate {
  uint32_t struct_size;
  uint32_t reserved;
  intptr_t file;          /* a descriptor; on Windows a HANDLE.  It stays the caller's */
  portico_str file_name;  /* under which name it can be moved; size 0: it has none (Linux: made with O_TMPFILE) */
  uint64_t size;          /* bytes */
  portico_str root, path; /* "checkpoints" and "sub/m.safetensors"; the rules of file_path hold for both */
} comfy_candidate;

/* What became of it.  status 0: all is well.  Else the HTTP status of the refusal, with the code, message and details (JSON
 * text, or "null") of its error envelope; texts end in NUL. */
typedef struct comfy_placement_result {
  uint32_t struct_size;
  int32_t status;
  char code[64], message[1024], details[2048];
  char disk_path[4096]; /* place: the file's absolute path, free of symbolic links, ending in NUL */
  int64_t changed;      /* place: its modification time in microseconds since 1970-01-01 UTC */
  int32_t moved;        /* place: 1 when file_name no longer names the file; nobody has to remove it */
  int32_t reserved;
} comfy_placement_result;

typedef struct comfy_placement {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] The folder that holds models/, as configured, as long-lived as the service; size 0: none is configured, and place
   * refuses everything. */
  portico_str (PORTICO_CALL *base_dir)(void *self);
  /* [loop] Checks that the file is a model of a kind that may be loaded.  Candidate and result are the caller's until done.
   * An error only when it could not be tried: E_LIMIT the pool is full, E_CANCELLED. */
  int32_t (PORTICO_CALL *check)(void *self, const comfy_candidate *, comfy_placement_result *, portico_done, void *user);
  /* [loop] As check; then puts the file at its place, whole and durable, and never over another. */
  int32_t (PORTICO_CALL *place)(void *self, const comfy_candidate *, comfy_placement_result *, portico_done, void *user);
} comfy_placement;

#ifdef __cplusplus
}
#endif
#endif
