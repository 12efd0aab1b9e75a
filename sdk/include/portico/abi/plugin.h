/* portico/abi/plugin.h - what a plugin says about itself: its settings, its services, its life. */
#ifndef PORTICO_ABI_PLUGIN_H
#define PORTICO_ABI_PLUGIN_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One key of the plugin's ini section.  The server refuses unknown keys and values outside the type or range
 * before create(), so a plugin never sees a bad one. */
typedef struct portico_setting {
  uint32_t struct_size;
  int32_t type;               /* PORTICO_SETTING_* */
  const char *name, *help;
  const char *fallback;       /* as an operator would write it; NULL: must be set */
  int64_t min, max;           /* of number; both 0: no bounds */
} portico_setting;
#define PORTICO_SETTING_TEXT 0     /* text */
#define PORTICO_SETTING_SECRET 1   /* text, never printed or logged by the server */
#define PORTICO_SETTING_PATH 2     /* text, made absolute against the ini file's folder */
#define PORTICO_SETTING_INTEGER 3  /* number */
#define PORTICO_SETTING_BOOLEAN 4  /* number: 0 or 1 */
#define PORTICO_SETTING_SIZE 5     /* number in bytes: 512, 64k, 10M */
#define PORTICO_SETTING_DURATION 6 /* number in milliseconds: 250ms, 30s, 5m */
#define PORTICO_SETTING_UPSTREAM 7 /* the operator names an [upstream.NAME] section; text is that section's url, without
                                      a trailing slash, user info included.  A name without a section is refused */

/* The description of a plugin.  Lives as long as the library is mapped, which is as long as the process. */
typedef struct portico_plugin {
  uint32_t struct_size;
  uint32_t needs_minor; /* the oldest server minor this plugin can run on */
  const char *id, *version, *summary, *homepage; /* shown by `portico plugins`; homepage may be NULL */
  const char *build; /* compiler and SDK the library was built with, for people; NULL: not said */
  const portico_setting *settings;
  size_t setting_count;
  const char *const *provides, *const *needs, *const *uses; /* service ids ending in NULL, or NULL; uses: if present */
  /* On loop 0, before anything is served.  Builds the instance and has no effects: only log, setting and find.  After
   * a failure nothing else of the instance is called.  When another plugin keeps the server from starting, destroy()
   * may be next. */
  int32_t (PORTICO_CALL *create)(const portico_host *, void **self, portico_error *);
  /* [start] Registers routes and services, starts background work.  After a failure stop() is not called, but
   * destroy() is. */
  int32_t (PORTICO_CALL *start)(void *self, portico_error *);
  /* [loop] On loop 0, while handlers still run on the others.  Joins the plugin's own threads, if it must have any. */
  void (PORTICO_CALL *stop)(void *self);
  /* On loop 0, when the plugin holds nothing and no thread is inside it; see Stop in abi.h. */
  void (PORTICO_CALL *destroy)(void *self);
  /* "GET /jobs/{id}", ending in NULL: every route start() may register, for `portico plugins`, which does not start it.
   * One that is not listed is refused.  NULL: not said. */
  const char *const *routes;
} portico_plugin;

/* The one symbol a plugin exports.  Pure: callable before any configuration is read.  NULL: not this major. */
typedef const portico_plugin *(PORTICO_CALL *portico_query_fn)(uint32_t abi_major);
PORTICO_EXPORT const portico_plugin *PORTICO_CALL portico_query(uint32_t abi_major);

#ifdef __cplusplus
}
#endif
#endif
