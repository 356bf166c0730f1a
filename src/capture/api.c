/* capture/api.c - what programs can tell the recorder: see include/tidemark/tidemark.h.
 *
 * The header looks these up by name at run time; without the recorder they are not there
 * and the calls do nothing.
 */
#include <errno.h>
#include <stdint.h>
#include <tidemark/tidemark.h>

#include "capture/hooks.h"
#include "capture/process.h"
#include "capture/record.h"

/* The number of NAME; 0 while nothing is recorded. */
static uint64_t name_id(const char *name)
{
    struct tide_self *self = &tide_self;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || self->busy || self->ended || !name)
        return 0;
    if (!self->stream && !tide_stream_of_thread())
        return 0;
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (!stream)
        return 0;
    uint64_t id = 0;
    if (tide_stream_room(stream, TIDE_RECORD_MAX))
        id = tide_process_name(name);
    tide_leave(self, stream);
    return id;
}

static void say(uint8_t kind, const uint64_t *values, uint32_t count)
{
    const int saved = errno;
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON)
        tide_record_extra(TIDE_CALLER, kind, values, count);
    errno = saved;
}

TIDE_HOOK void tide_recorder_region_begin(const char *name)
{
    const uint64_t id = name_id(name);
    say(TIDE_EXTRA_REGION_BEGIN, &id, 1);
}

TIDE_HOOK void tide_recorder_region_end(const char *name)
{
    const uint64_t id = name_id(name);
    say(TIDE_EXTRA_REGION_END, &id, 1);
}

TIDE_HOOK void tide_recorder_label(const void *block, const char *name, size_t bytes)
{
    const uint64_t values[] = {(uintptr_t)block, name_id(name), bytes};
    say(TIDE_EXTRA_LABEL, values, 3);
}

TIDE_HOOK void tide_recorder_event(uint64_t id)
{
    say(TIDE_EXTRA_EVENT, &id, 1);
}

TIDE_HOOK void tide_recorder_snapshot(const char *name)
{
    const uint64_t id = name_id(name);
    say(TIDE_EXTRA_SNAPSHOT, &id, 1);
}
