/* unit/trace_walk.c - read a whole trace into memory, for tests that look at it. */
#include "trace_walk.h"

#include <stdlib.h>
#include <string.h>

#include "trace/list.h"

static enum tide_status walk(struct tide_replay *replay, size_t batch,
                             struct tide_list *events)
{
    for (;;) {
        size_t count;
        if (!tide_list_reserve(events, events->count + batch))
            return TIDE_ENOMEM;
        struct tide_event *at = (struct tide_event *)events->items + events->count;
        const enum tide_status status = tide_replay_next(replay, at, batch, &count);
        events->count += count;
        if (status || count == 0)
            return status;
    }
}

enum tide_status tide_walk(int fd, size_t batch, struct tide_walked *out)
{
    char why[200];
    struct tide_list events = {.item_bytes = sizeof(struct tide_event)};
    struct tide_replay *replay;
    *out = (struct tide_walked){0};
    enum tide_status status =
        tide_trace_open_fd(fd, "trace", why, sizeof(why), &out->trace);
    if (status)
        return status;
    status = tide_stacks_init(&out->stacks);
    if (status)
        return status;
    status = tide_replay_open(out->trace, &out->stacks, &replay);
    if (status)
        return status;
    status = walk(replay, batch, &events);
    out->counts = *tide_replay_counts(replay);
    out->events = events.items;
    out->count = events.count;
    tide_replay_close(replay);
    return status;
}

void tide_walk_release(struct tide_walked *walked)
{
    tide_trace_close(walked->trace);
    tide_stacks_release(&walked->stacks);
    free(walked->events);
    *walked = (struct tide_walked){0};
}

size_t tide_walk_count(const struct tide_walked *walked, unsigned kind)
{
    size_t count = 0;
    for (size_t i = 0; i < walked->count; i++)
        count += walked->events[i].kind == kind;
    return count;
}

bool tide_walk_same(const struct tide_event *a, const struct tide_event *b)
{
    return a->kind == b->kind && a->alloc_kind == b->alloc_kind &&
           a->map_call == b->map_call && a->extra == b->extra &&
           a->align_log2 == b->align_log2 && a->process == b->process &&
           a->lane == b->lane && a->stack == b->stack && a->ticks == b->ticks &&
           a->address == b->address && a->size == b->size && a->usable == b->usable &&
           a->value == b->value && a->value2 == b->value2 && a->value3 == b->value3;
}
