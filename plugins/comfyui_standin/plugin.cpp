// The one exported symbol, and the keys of [plugin.comfyui_standin].
#include "plugins/comfyui_standin/standin.hpp"

PORTICO_PLUGIN(standin::standin, "comfyui_standin", "0.1.0", "A stand-in ComfyUI for demos, tests and benchmarks.",
               portico::duration("step_delay", "50ms", "Time of one sampling step.", 0, 3'600'000),
               portico::flag("previews", "yes", "Whether samplers send a preview after each step."),
               portico::flag("jobs_api", "yes", "Whether /api/jobs/{id} and its cancel exist, as in newer ComfyUI."),
               portico::flag("unread_stalls", "yes",
                             "Whether one socket that is not read holds up all, as in ComfyUI."),
               portico::flag("log_prompts", "no", "Whether each prompt that comes is a line in the log."),
               portico::size("max_upload_size", "100M", "The largest request body.", 1024, int64_t{1} << 40),
               portico::integer("max_history", "10000", "Finished prompts kept.", 1, 1'000'000),
               portico::size("max_output_bytes", "256M", "Outputs kept in memory; the oldest go first.", 1 << 20,
                             int64_t{1} << 40))
