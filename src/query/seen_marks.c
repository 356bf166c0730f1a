/* query/seen_marks.c - what the programs of some traces mark: loops, and kinds of regions.
 */
#include "query/seen_marks.h"

#include <stdlib.h>
#include <string.h>

#include "model/block_stream.h"
#include "model/grow.h"
#include "model/pairs.h"
#include "trace/format.h"

struct look {
    const struct tide_trace *trace;
    struct tide_seen_marks *out;
    struct tide_pairs seen; /* (process, name id << 8 | kind of event) */
};

static enum tide_status add(struct tide_name_list *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return TIDE_OK;
    const char **const list =
        tide_grown(names->list, &names->capacity, names->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    names->list = list;
    list[names->count++] = name;
    return TIDE_OK;
}

static enum tide_status on_mark(void *user, const struct tide_event *event,
                                uint32_t tid)
{
    struct look *const look = user;
    const bool loop = event->extra == TIDE_EXTRA_LOOP_BEGIN;
    uint32_t number;
    (void)tid;
    if (!loop && event->extra != TIDE_EXTRA_REGION_BEGIN &&
        event->extra != TIDE_EXTRA_PHASE_BEGIN)
        return TIDE_OK;
    const size_t before = look->seen.count;
    const struct tide_pair pair = {event->process, event->value << 8 | event->extra};
    if (tide_pairs_find(&look->seen, pair, &number))
        return TIDE_ENOMEM;
    if (look->seen.count == before)
        return TIDE_OK;
    const char *const attribute =
        tide_trace_name_attribute(look->trace, event->process, event->value);
    const char *const name = tide_trace_name(look->trace, event->process, event->value);
    const char *const plain = loop                                     ? "loop"
                              : event->extra == TIDE_EXTRA_PHASE_BEGIN ? "phase"
                                                                       : "function";
    const enum tide_status status =
        add(&look->out->kinds, attribute ? attribute : plain);
    return status || !loop || !name ? status : add(&look->out->loops, name);
}

/* Blocks do not matter. */
static bool follow_none(void *user, const struct tide_life *life)
{
    (void)user;
    (void)life;
    return false;
}

static enum tide_status look_through(struct tide_trace *trace,
                                     struct tide_seen_marks *out)
{
    struct look look = {.trace = trace, .out = out};
    struct tide_model *const model = calloc(1, sizeof(*model));
    const struct tide_block_watch watch = {
        .user = &look, .follow = follow_none, .mark = on_mark};
    if (!model)
        return TIDE_ENOMEM;
    model->trace = trace;
    enum tide_status status = tide_stacks_init(&model->stacks);
    if (!status)
        status = tide_block_stream(model, &watch, NULL);
    tide_stacks_release(&model->stacks);
    tide_pairs_release(&look.seen);
    free(model);
    return status;
}

enum tide_status tide_seen_marks_find(struct tide_trace *const *traces, size_t count,
                                      struct tide_seen_marks *out)
{
    enum tide_status status = TIDE_OK;
    *out = (struct tide_seen_marks){0};
    for (size_t i = 0; i < count && !status; i++)
        if (tide_trace_has_names(traces[i]))
            status = look_through(traces[i], out);
    return status;
}

void tide_seen_marks_release(struct tide_seen_marks *marks)
{
    free(marks->loops.list);
    free(marks->kinds.list);
    *marks = (struct tide_seen_marks){0};
}
