/* model/bad_frees.c - frees of what is no block: freed before, or never returned.
 */
#include "model/bad_frees.h"

#include "trace/trace.h"

enum {
    TIDE_AT_ONCE = 4096, /* events of a lane that are looked at together */
    TIDE_TOO_MANY =
        1000, /* so many are no mistakes: blocks come from calls not recorded */
};

/* The last block of a kind that was seen. */
struct seen {
    uint64_t start, size, freed_ticks;
    uint32_t made_stack, freed_stack;
    bool known, live;
};

/* An address that was freed without a block. */
struct watched {
    uint64_t address;
    uint32_t process;
    struct seen own;             /* begins there */
    struct seen around;          /* begins before it and ends behind it */
    struct tide_bad_free *found; /* NULL: not freed so yet */
};

struct walk {
    struct watched list[TIDE_UNMATCHED_KEPT];
    size_t count;
    bool sure; /* all calls of the run that return blocks are in the trace */
    struct tide_bad_frees *out;
};

/* --- One event ---------------------------------------------------------------------------- */

static void on_birth(struct watched *watched, const struct tide_event *event)
{
    const uint64_t bytes = event->usable > event->size ? event->usable : event->size;
    const uint64_t into = watched->address - event->address;
    if (event->address > watched->address || (into > 0 && into >= bytes))
        return;
    struct seen *const seen = into ? &watched->around : &watched->own;
    *seen = (struct seen){
        .start = event->address,
        .size = event->size,
        .made_stack = event->stack,
        .known = true,
        .live = true,
    };
    if (!into)
        watched->around.live = false; /* its memory was handed out again */
}

static void end(struct seen *seen, const struct tide_event *event)
{
    seen->live = false;
    seen->freed_ticks = event->ticks;
    seen->freed_stack = event->stack;
}

/* EVENT frees the address that is WATCHED, and nothing lives there. */
static void on_bad_free(struct walk *walk, struct watched *watched,
                        const struct tide_event *event)
{
    const bool twice = watched->own.known && !watched->around.live;
    const bool inside = !twice && watched->around.live;
    const struct seen *const block = twice    ? &watched->own
                                     : inside ? &watched->around
                                              : &(const struct seen){0};
    if (watched->found) {
        watched->found->calls++;
        return;
    }
    if (!inside && !walk->sure)
        return;
    watched->found = &walk->out->list[walk->out->count++];
    *watched->found = (struct tide_bad_free){
        .kind = twice    ? TIDE_FREED_TWICE
                : inside ? TIDE_FREED_INSIDE
                         : TIDE_FREED_UNKNOWN,
        .process = watched->process,
        .address = watched->address,
        .calls = 1,
        .ticks = event->ticks,
        .stack = event->stack,
        .block_start = block->start,
        .size = block->size,
        .made_stack = block->made_stack,
        .freed_ticks = block->freed_ticks,
        .freed_stack = block->freed_stack,
    };
}

static void on_death(struct walk *walk, struct watched *watched,
                     const struct tide_event *event)
{
    if (watched->around.live && event->address == watched->around.start)
        end(&watched->around, event);
    if (event->address != watched->address)
        return;
    if (watched->own.live)
        end(&watched->own, event);
    else if (event->kind == TIDE_EVENT_FREE)
        on_bad_free(walk, watched, event);
}

/* A call of realloc failed: the block is there as before. */
static void on_return(struct watched *watched, const struct tide_event *event)
{
    watched->own.live |= watched->own.known && event->address == watched->own.start;
    watched->around.live |=
        watched->around.known && event->address == watched->around.start;
}

static void take(struct walk *walk, const struct tide_event *event)
{
    for (size_t i = 0; i < walk->count; i++) {
        struct watched *const watched = &walk->list[i];
        if (watched->process != event->process)
            continue;
        if (event->kind == TIDE_EVENT_ALLOC || event->kind == TIDE_EVENT_MOVE_END)
            on_birth(watched, event);
        else if (event->kind == TIDE_EVENT_FREE || event->kind == TIDE_EVENT_MOVE_BEGIN)
            on_death(walk, watched, event);
        else if (event->kind == TIDE_EVENT_MOVE_BACK)
            on_return(watched, event);
    }
}

/* --- All ---------------------------------------------------------------------------------- */

/* Every address once. */
static void watch_all(struct walk *walk, const struct tide_model *model)
{
    for (size_t i = 0; i < model->unmatched_count; i++) {
        const struct tide_unmatched *const free = &model->unmatched[i];
        bool known = false;
        for (size_t w = 0; w < walk->count && !known; w++)
            known = walk->list[w].address == free->address &&
                    walk->list[w].process == free->process;
        if (!known)
            walk->list[walk->count++] =
                (struct watched){.address = free->address, .process = free->process};
    }
}

static bool has_holes(const struct tide_model *model)
{
    const struct tide_honesty *const honesty = &model->honesty;
    return honesty->dropped || honesty->lost_records || honesty->reordered ||
           honesty->sanitizer || model->trace->bad_chunks > 0 ||
           !tide_model_records(model, TIDE_IN_HEAP);
}

static uint64_t count_twice(const struct tide_bad_frees *frees)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < frees->count; i++)
        calls += frees->list[i].kind == TIDE_FREED_TWICE ? frees->list[i].calls : 0;
    return calls;
}

enum tide_status tide_bad_frees_find(struct tide_model *model,
                                     struct tide_bad_frees *out)
{
    const char *const *const troubles = model->trace->troubles;
    struct walk walk = {
        .out = out,
        .sure = (!troubles || !troubles[0]) &&
                model->honesty.unmatched_frees <= TIDE_TOO_MANY,
    };
    struct tide_replay *replay;
    *out = (struct tide_bad_frees){0};
    if (model->unmatched_count == 0 || has_holes(model))
        return TIDE_OK;
    watch_all(&walk, model);
    enum tide_status status = tide_replay_open(model->trace, &model->stacks, &replay);
    if (status)
        return status;
    const struct tide_event *events;
    size_t count = 1;
    while (!status && count > 0) {
        status = tide_replay_run(replay, TIDE_AT_ONCE, &events, &count);
        for (size_t i = 0; i < count && !status; i++)
            take(&walk, &events[i]);
    }
    tide_replay_close(replay);
    model->honesty.double_frees = count_twice(out);
    model->honesty.double_frees_known = !status;
    return status;
}
