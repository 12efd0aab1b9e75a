#include <portico/plugin.hpp>

#include "plugins/events/events.hpp"

using events::events_plugin;

PORTICO_PLUGIN(events_plugin, "events", "0.1.0", "A job's life as server-sent events.",
               portico::integer("max_streams", "1024",
                                "Event streams open at once; more are answered 429.  0: no limit.", 0, 1'000'000),
               portico::duration("heartbeat", "14s", "The longest time between two comment lines of a stream.", 100,
                                 15'000),
               portico::duration("stuck_after", "30s", "A stream whose client has taken nothing for so long is cut.",
                                 100, 3'600'000))
