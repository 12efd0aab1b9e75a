#include <portico/plugin.hpp>

#include "plugins/jobs/jobs.hpp"

using jobs::jobs_plugin;

PORTICO_PLUGIN(jobs_plugin, "jobs", "0.1.0", "Jobs of the Comfy API v2: submit, ask after, list and cancel them.",
               portico::upstream("upstream", "comfyui",
                                 "The [upstream.NAME] section of the ComfyUI that runs the jobs."),
               portico::integer("max_upload_mb", "100",
                                "The largest upload, in MiB; the body of a submission may be 1 MiB longer.", 1, 2047),
               portico::integer("max_jobs", "50000",
                                "Jobs kept in memory; beyond it the oldest that ended are forgotten.", 100, 10'000'000),
               portico::size("workflow_budget", "256M",
                             "Bytes of workflows kept in memory; beyond it those of the oldest ended jobs go.", 1 << 20,
                             int64_t{1} << 40),
               portico::duration("retention", "30d", "How long a job that ended is remembered; at least a day.",
                                 86'400'000, 31'536'000'000),
               portico::integer("max_keys", "1000000",
                                "Idempotency-Keys remembered for 24 hours; at the limit new ones are refused (429).",
                                1000, 100'000'000),
               portico::duration("event_interval", "500ms",
                                 "The shortest time between two events of progress, and between two previews.", 1,
                                 5'000),
               portico::duration("poll_interval", "2500ms",
                                 "How often a watched job is looked up besides what the live feed tells.", 100, 15'000))
