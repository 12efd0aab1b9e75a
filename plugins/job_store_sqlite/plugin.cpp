#include "plugins/job_store_sqlite/store.hpp"

PORTICO_PLUGIN(
    job_store::store, "job_store_sqlite", "0.1.0",
    "Keeps jobs, idempotency keys and assets in an SQLite file, so that a restart loses nothing.",
    portico::path("directory", "",
                  "The folder that the store is kept in; made, for its owner only, if it is not there."),
    portico::text("durability", "full",
                  "full: what was answered survives a power cut. normal: it survives the end of portico; a power cut "
                  "may take the last moments."),
    portico::duration("retention", "30d", "How long a job that ended is kept; at least a day.", 86'400'000,
                      31'536'000'000),
    portico::path("import_state", "",
                  "The --state-dir of a comfy-api-proxy whose jobs, keys and assets are taken over at start."))
