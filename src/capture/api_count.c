/* capture/api_count.c - what programs can ask the recorder, and what it counts for them.
 */
#include <stdatomic.h>

#include "capture/api.h"
#include "capture/process.h"

TIDE_EXPORT(void, pause, int scope)
{
    (void)scope;
}

TIDE_EXPORT(void, resume, int scope)
{
    (void)scope;
}

TIDE_EXPORT(tide_handle, window_start, const char *name, int scope)
{
    (void)name, (void)scope;
    return TIDE_NOTHING;
}

TIDE_EXPORT(int, stop, tide_handle window, struct tide_stats *stats)
{
    (void)window;
    if (stats)
        *stats = (struct tide_stats){0};
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, peek, tide_handle window, struct tide_stats *stats)
{
    return tide_recorder_stop(window, stats);
}

TIDE_EXPORT(int, register, void)
{
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, deregister, struct tide_stats *stats)
{
    return tide_recorder_stop(TIDE_NOTHING, stats);
}

TIDE_EXPORT(int, monitor_add, tide_alloc_called alloc_called,
            tide_free_called free_called, void *user, tide_handle *monitor)
{
    (void)alloc_called, (void)free_called, (void)user;
    *monitor = TIDE_NOTHING;
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, monitor_remove, tide_handle monitor)
{
    (void)monitor;
    return TIDE_UNKNOWN;
}

TIDE_EXPORT(int, hush, int hushed)
{
    (void)hushed;
    return 0;
}

TIDE_EXPORT(int, report, void)
{
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, find, const void *address, struct tide_found_block *block)
{
    (void)address;
    *block = (struct tide_found_block){0};
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, counters, struct tide_counters *counters)
{
    *counters =
        (struct tide_counters){.recording = atomic_load(&tide_phase) == TIDE_PHASE_ON};
    return TIDE_DONE;
}
