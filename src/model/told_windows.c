/* model/told_windows.c - what timemory's table counts, and in which units.
 *
 * A program that starts and stops timemory's mallocp, or has markers of its own, is counted
 * in between: while a window of such a name is open in the process, whoever opened it.
 */
#include <string.h>

#include "model/told_walk.h"
#include "trace/format.h"

/* So begin the names of these windows, and this is the setting. */
#define TIDE_TIMEMORY_WINDOW "mallocp"
#define TIDE_TIMEMORY_UNITS  "timemory.memory_units"

static bool is_timemorys(const char *name)
{
    return strncmp(name, TIDE_TIMEMORY_WINDOW, strlen(TIDE_TIMEMORY_WINDOW)) == 0;
}

/* Without memory a child is in no window. */
void tide_told_windows_inherit(struct tide_told_walk *walk, uint32_t process)
{
    const struct tide_process *const own = &walk->model->trace->processes[process];
    const struct tide_pair parent = {own->ppid, own->parent_birth};
    uint32_t number;
    if (walk->processes[process].begun)
        return;
    walk->processes[process].begun = true;
    const uint32_t known =
        own->parent_birth ? tide_pairs_known(&walk->begun, parent) : 0;
    if (known)
        walk->processes[process].windows =
            walk->processes[walk->begun_processes[known - 1]].windows;
    if (!tide_pairs_find(&walk->begun, (struct tide_pair){own->pid, own->birth_ticks},
                         &number))
        walk->begun_processes[number] = process;
}

static enum tide_status open_or_close(struct tide_told_walk *walk,
                                      const struct tide_event *event)
{
    tide_told_windows_inherit(walk, event->process);
    uint32_t *const open = &walk->processes[event->process].windows;
    const char *const name = tide_told_text(walk, event->process, event->value);
    if (!name)
        return TIDE_ENOMEM;
    if (event->value2 != 0 || !is_timemorys(name))
        return TIDE_OK;
    walk->told->has_windows = true;
    if (event->extra == TIDE_EXTRA_WINDOW_BEGIN)
        ++*open;
    else if (*open)
        --*open;
    return TIDE_OK;
}

static enum tide_status keep_units(struct tide_told_walk *walk,
                                   const struct tide_event *event)
{
    const bool is_text =
        event->value2 == TIDE_ATTRIBUTE_HOW(TIDE_ATTRIBUTE_STRING, TIDE_ATTRIBUTE_SET);
    const char *const name =
        is_text ? tide_told_text(walk, event->process, event->value) : "";
    if (!name)
        return TIDE_ENOMEM;
    if (strcmp(name, TIDE_TIMEMORY_UNITS) != 0)
        return TIDE_OK;
    walk->told->memory_units = tide_told_text(walk, event->process, event->value3);
    return walk->told->memory_units ? TIDE_OK : TIDE_ENOMEM;
}

enum tide_status tide_told_window_mark(struct tide_told_walk *walk,
                                       const struct tide_event *event)
{
    switch (event->extra) {
    case TIDE_EXTRA_WINDOW_BEGIN:
    case TIDE_EXTRA_WINDOW_END:
        return open_or_close(walk, event);
    case TIDE_EXTRA_ATTRIBUTE:
        return keep_units(walk, event);
    default:
        return TIDE_OK;
    }
}

const struct tide_spread *tide_told_counted(const struct tide_told *told,
                                            const struct tide_told_call *call)
{
    return told->has_windows ? &call->in_windows : &call->sizes;
}
