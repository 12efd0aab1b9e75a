/* plugins/comfy/assets.h - the service "comfy.assets/1": what an asset id stands for, and ids for outputs.
 * Provided by uploads; used by jobs.  The rules of portico/abi/service.h hold. */
#ifndef COMFY_ASSETS_H
#define COMFY_ASSETS_H
#include <portico/abi.h>
#ifdef __cplusplus
extern "C" {
#endif

#define COMFY_ASSETS "comfy.assets/1"

/* An output file as ComfyUI names it. */
typedef struct comfy_output_ref { portico_str job_id, filename, subfolder, type; } comfy_output_ref;

/* One core/ASSET reference of a graph.  id and hash are what its info says, size 0 where it says nothing.  On OK `found`
 * is 1 and text holds the string that takes its place ("sub/a.png", "a.png [output]"), or `found` is 0. */
typedef struct comfy_reference {
  uint32_t struct_size;
  int32_t found;
  portico_str id, hash;
  size_t text_size;
  char text[4608];
} comfy_reference;

typedef struct comfy_assets {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] Writes the id of an output into out (at most capacity bytes, no NUL) and its length into *size.  The same output
   * has the same id always.  E_LIMIT: it does not fit; *size is what it needs.  Never waits. */
  int32_t (PORTICO_CALL *mint)(void *self, const comfy_output_ref *, char *out, size_t capacity, size_t *size);
  /* [loop] Resolves references; the array is the caller's until done.  An unknown one is not an error. */
  int32_t (PORTICO_CALL *resolve)(void *self, comfy_reference *, size_t count, portico_done, void *user);
} comfy_assets;

#ifdef __cplusplus
}
#endif
#endif
