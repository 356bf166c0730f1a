/* trace/replay.c - walk all events of a trace. */
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/replay_state.h"

enum tide_status tide_replay_open(struct tide_trace *trace, struct tide_stacks *stacks,
                                  struct tide_replay **out)
{
    *out = NULL;
    struct tide_replay *replay = calloc(1, sizeof(*replay));
    if (!replay)
        return TIDE_ENOMEM;
    replay->source = (struct tide_lane_source){
        .trace = trace, .reader = &replay->reader, .resolver = &replay->resolver};
    enum tide_status status =
        tide_chunk_reader_init(&replay->reader, trace->fd, trace->file_bytes);
    if (!status)
        status = tide_resolver_init(&replay->resolver, trace, stacks);
    if (!status)
        status = tide_merge_init(&replay->merge, &replay->source);
    if (status) {
        tide_replay_close(replay);
        return status;
    }
    *out = replay;
    return TIDE_OK;
}

/* How many of these are no calls; what they say is noted. */
static size_t count_others(struct tide_replay *replay, const struct tide_event *events,
                           size_t count)
{
    if (replay->merge.usual)
        return count && events[0].kind == TIDE_EVENT_SPAN;
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind <= TIDE_EVENT_MAP)
            continue;
        others++;
        if (events[i].kind == TIDE_EVENT_EXTRA && events[i].extra == TIDE_EXTRA_DROPPED)
            replay->counts.dropped =
                tide_add_saturating(replay->counts.dropped, events[i].value);
    }
    return others;
}

static void count_events(struct tide_replay *replay, const struct tide_event *events,
                         size_t count)
{
    replay->counts.events += count - count_others(replay, events, count);
}

enum tide_status tide_replay_run(struct tide_replay *replay, size_t max,
                                 const struct tide_event **events, size_t *count)
{
    const enum tide_status status = tide_merge_next(&replay->merge, max, events, count);
    count_events(replay, *events, *count);
    replay->counts.reordered = replay->merge.reordered;
    replay->counts.cut_stacks = replay->source.cut_stacks;
    replay->counts.lost_records = replay->source.lost;
    replay->counts.bytes_read = replay->reader.bytes;
    return status;
}

enum tide_status tide_replay_next(struct tide_replay *replay, struct tide_event *events,
                                  size_t max, size_t *count)
{
    enum tide_status status = TIDE_OK;
    size_t some = 1;
    for (*count = 0; *count < max && some && !status; *count += some) {
        const struct tide_event *run;
        status = tide_replay_run(replay, max - *count, &run, &some);
        if (some)
            memcpy(events + *count, run, some * sizeof(*run));
    }
    return status;
}

bool tide_replay_usual(const struct tide_replay *replay)
{
    return replay->merge.usual;
}

const struct tide_replay_counts *tide_replay_counts(const struct tide_replay *replay)
{
    return &replay->counts;
}

const struct tide_trace *tide_replay_trace(const struct tide_replay *replay)
{
    return replay->source.trace;
}

void tide_replay_close(struct tide_replay *replay)
{
    if (!replay)
        return;
    tide_merge_release(&replay->merge);
    tide_resolver_release(&replay->resolver);
    tide_chunk_reader_release(&replay->reader);
    free(replay);
}
