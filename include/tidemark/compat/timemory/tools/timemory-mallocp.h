/* timemory/tools/timemory-mallocp.h - timemory's mallocp functions, for tidemark.
 *
 * Put tidemark's include/tidemark/compat in the include path, in place of timemory's own
 * folder: that one is enough, and nothing has to be linked.  Each start is a window of
 * tidemark's that counts the whole process until its stop: `tidemark report --windows` shows
 * them, named "mallocp", and the one of register and deregister, "mallocp (registered)".
 * `tidemark report --timemory` counts what happened while any of them was open, once, in
 * the units of TIMEMORY_MEMORY_UNITS.
 *
 * A handle is a number from 1 on: nested starts give 1, 2, 3...  A handle that was stopped
 * already, or never given out (UINT64_MAX), stops nothing.
 *
 * TIMEMORY_ENABLE_MALLOCP or ENABLE_TIMEMORY_MALLOCP set to 0, OFF, NO or FALSE in the
 * environment: nothing is counted, starts give 0, and "mallocp (off)" is a window of
 * nothing.  The macros DISABLE_TIMEMORY,
 * TIMEMORY_DISABLED, TIMEMORY_ENABLED=0 and TIMEMORY_DISABLE_MALLOCP: the same when compiled.
 */
#ifndef TIMEMORY_TOOLS_TIMEMORY_MALLOCP_H
#define TIMEMORY_TOOLS_TIMEMORY_MALLOCP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "../../../tidemark.h"

#if defined(DISABLE_TIMEMORY) || defined(TIMEMORY_DISABLED) || \
    defined(TIMEMORY_DISABLE_MALLOCP) ||                       \
    (defined(TIMEMORY_ENABLED) && TIMEMORY_ENABLED + 0 == 0)
#    define TIDE_MALLOCP_COMPILED 0
#else
#    define TIDE_MALLOCP_COMPILED 1
#endif

#define TIDE_MALLOCP_WINDOWS 1024 /* open at the same time */
#define TIDE_MALLOCP_TAKEN   UINT64_MAX

/* One for all sources of a program or library. */
struct tide_mallocp {
    uint64_t window[TIDE_MALLOCP_WINDOWS]; /* tide_handle at its number - 1; 0: free */
    uint64_t registered;                   /* its number; 0: none */
    uint64_t open;                         /* how many windows are */
    uint64_t said;                         /* 1: the trace knows of the variables */
};
__attribute__((weak, visibility("hidden"))) struct tide_mallocp tide_mallocp;

static inline int tide_mallocp_is_off(const char *variable)
{
    const char *const value = getenv(variable);
    return value && (strcmp(value, "0") == 0 || strcasecmp(value, "off") == 0 ||
                     strcasecmp(value, "no") == 0 || strcasecmp(value, "false") == 0);
}

static inline int tide_mallocp_enabled(void)
{
    return TIDE_MALLOCP_COMPILED && !tide_mallocp_is_off("TIMEMORY_ENABLE_MALLOCP") &&
           !tide_mallocp_is_off("ENABLE_TIMEMORY_MALLOCP");
}

/* What the report has to know of the environment, which is the program's. */
static inline void tide_mallocp_say(int enabled)
{
    const char *const value = getenv("TIMEMORY_MEMORY_UNITS");
    const char *const units = value ? value : getenv("MEMORY_UNITS");
    if (__atomic_exchange_n(&tide_mallocp.said, 1, __ATOMIC_RELAXED))
        return;
    if (units && *units)
        tide_set_string("timemory.memory_units", units);
    if (TIDE_MALLOCP_COMPILED && !enabled)
        tide_stop(tide_window_start("mallocp (off)", TIDE_SCOPE_PROCESS), NULL);
}

static inline uint64_t tide_mallocp_start(const char *name)
{
    uint64_t *const windows = tide_mallocp.window;
    const int enabled = tide_mallocp_enabled();
    tide_mallocp_say(enabled);
    for (uint64_t i = 0; enabled && i < TIDE_MALLOCP_WINDOWS; i++) {
        uint64_t nothing = 0;
        if (__atomic_compare_exchange_n(&windows[i], &nothing, TIDE_MALLOCP_TAKEN, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            __atomic_add_fetch(&tide_mallocp.open, 1, __ATOMIC_RELAXED);
            const tide_handle window = tide_window_start(name, TIDE_SCOPE_PROCESS);
            /* Without the recorder: a window all the same, of nothing. */
            __atomic_store_n(&windows[i], window ? window : TIDE_MALLOCP_TAKEN - 1,
                             __ATOMIC_RELEASE);
            return i + 1;
        }
    }
    return 0;
}

/* Begin to count; the number of this beginning. */
static inline uint64_t timemory_start_mallocp(void)
{
    return tide_mallocp_start("mallocp");
}

/* End what began as number IDX; how many there are still. */
static inline uint64_t timemory_stop_mallocp(uint64_t idx)
{
    if (idx >= 1 && idx <= TIDE_MALLOCP_WINDOWS) {
        uint64_t *const place = &tide_mallocp.window[idx - 1];
        uint64_t window = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (window && window != TIDE_MALLOCP_TAKEN &&
            __atomic_compare_exchange_n(place, &window, TIDE_MALLOCP_TAKEN, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            tide_stop(window, NULL);
            __atomic_sub_fetch(&tide_mallocp.open, 1, __ATOMIC_RELAXED);
            __atomic_store_n(place, 0, __ATOMIC_RELEASE);
        }
    }
    return __atomic_load_n(&tide_mallocp.open, __ATOMIC_RELAXED);
}

/* Count everything from here to timemory_deregister_mallocp(); a second time changes
 * nothing. */
static inline void timemory_register_mallocp(void)
{
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&tide_mallocp.registered, &none, TIDE_MALLOCP_TAKEN,
                                    0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        __atomic_store_n(&tide_mallocp.registered,
                         tide_mallocp_start("mallocp (registered)"), __ATOMIC_RELEASE);
}

static inline void timemory_deregister_mallocp(void)
{
    timemory_stop_mallocp(
        __atomic_exchange_n(&tide_mallocp.registered, 0, __ATOMIC_ACQ_REL));
}

static inline void timemory_mallocp_library_ctor(void)
{
}

#endif
