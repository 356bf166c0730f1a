/* model/leak.c - what speaks for a leak: is it still growing, or was it once?
 */
#include "model/leak.h"

#include "trace/format.h"

enum {
    TIDE_STEADY_SLICES =
        TIDE_LIFE_SLICES / 4,                /* a leak grows for a quarter of a life */
    TIDE_LAST_SLICES = TIDE_LIFE_SLICES / 8, /* and into its last eighth */
    TIDE_GAP_PARTS = 4, /* with no gap longer than a quarter of its own time */
    TIDE_STEADY_BLOCKS_BY_BIRTHS = 32, /* few blocks are steady by chance */
    TIDE_STEADY_BLOCKS_BY_TIME = 8,
    TIDE_STEPS_ENOUGH = 50, /* so many are a loop, in the shortest run */
    TIDE_INSTANT_PARTS =
        64, /* what is made in so small a part of the run is made at once */
    TIDE_ENDED_SLICES =
        TIDE_LIFE_SLICES / 4, /* with none so long, it does not grow any more */
    TIDE_ONCE_SLICES = TIDE_LIFE_SLICES / 16,
    TIDE_THREADS_LEAST = 3,
    TIDE_BLOCKS_OF_THREAD = 4,
    TIDE_EVENTS_LEAST = 50, /* fewer steps have no rate */
};

/* So long a process must live for time to say anything. */
static const double TIDE_LIFE_LEAST_S = 1.0;
/* So long a rate must be seen to hold. */
static const double TIDE_RATE_LEAST_S = 1.0;

const char *tide_leak_word(enum tide_leak_kind kind)
{
    static const char *const words[] = {
        [TIDE_LEAK_SOME] = "some",
        [TIDE_LEAK_ONCE] = "once",
        [TIDE_LEAK_PER_THREAD] = "per_thread",
        [TIDE_LEAK_GROWING] = "growing",
    };
    return words[kind];
}

/* The first and last part that has any. */
struct parts {
    int first, last;
};

static struct parts parts_of(uint32_t slices)
{
    return (struct parts){__builtin_ctz(slices), 31 - __builtin_clz(slices)};
}

/* How many parts in a row have none, at most. */
static int longest_gap(uint32_t slices)
{
    const struct parts parts = parts_of(slices);
    int longest = 0, gap = 0;
    for (int i = parts.first; i <= parts.last; i++) {
        gap = slices >> i & 1 ? 0 : gap + 1;
        longest = gap > longest ? gap : longest;
    }
    return longest;
}

/* Do the bytes lie about evenly between the first and the last part?  One large block
 * among many small ones is not what grows. */
static bool is_even(const struct tide_survival *survival, enum tide_life_axis axis)
{
    const struct parts parts = parts_of(survival->slices[axis]);
    const double mean = survival->weight[axis] / (double)survival->bytes;
    const double from = (double)parts.first / TIDE_LIFE_SLICES;
    const double length = (double)(parts.last + 1 - parts.first) / TIDE_LIFE_SLICES;
    const double place = (mean - from) / length;
    return place > 0.2 && place < 0.85;
}

/* Is no gap longer than a quarter of the whole? */
static bool is_dense(uint32_t slices)
{
    const struct parts parts = parts_of(slices);
    return longest_gap(slices) <= (parts.last + 1 - parts.first) / TIDE_GAP_PARTS;
}

static enum tide_leak_rhythm rhythm_of(const struct tide_survival *survival)
{
    const uint32_t *const slices = survival->slices;
    if (!slices[TIDE_LIFE_BIRTHS] || !slices[TIDE_LIFE_TIME])
        return TIDE_RHYTHM_UNKNOWN;
    return is_dense(slices[TIDE_LIFE_BIRTHS]) || is_dense(slices[TIDE_LIFE_TIME])
               ? TIDE_RHYTHM_STRETCH
               : TIDE_RHYTHM_SCATTERED;
}

static bool is_steady(const struct tide_survival *survival, enum tide_life_axis axis,
                      uint64_t blocks_least)
{
    const uint32_t slices = survival->slices[axis];
    const uint32_t processes = survival->processes ? survival->processes : 1;
    if (!slices || survival->bytes == 0 || survival->blocks / processes < blocks_least)
        return false;
    const struct parts parts = parts_of(slices);
    const int length = parts.last + 1 - parts.first;
    return length >= TIDE_STEADY_SLICES &&
           parts.last >= TIDE_LIFE_SLICES - TIDE_LAST_SLICES && is_dense(slices) &&
           is_even(survival, axis);
}

static bool is_short(uint32_t slices)
{
    const struct parts parts = parts_of(slices);
    return parts.last + 1 - parts.first <= TIDE_ONCE_SLICES;
}

/* One of several processes that lives for a moment does all that it does in it. */
static bool is_instant(const struct tide_model *model,
                       const struct tide_survival *survival)
{
    const double seconds = tide_trace_seconds(model->trace, survival->last_ticks) -
                           tide_trace_seconds(model->trace, survival->first_ticks);
    return model->processes > 1 && seconds * TIDE_INSTANT_PARTS < model->duration_s;
}

/* How long each of several processes lived is not known here. */
static bool is_steady_by_time(const struct tide_model *model,
                              const struct tide_survival *survival)
{
    return survival->processes <= 1 &&
           (model->duration_s >= TIDE_LIFE_LEAST_S ||
            survival->blocks >= TIDE_STEPS_ENOUGH) &&
           is_steady(survival, TIDE_LIFE_TIME, TIDE_STEADY_BLOCKS_BY_TIME);
}

static enum tide_leak_kind kind_of(const struct tide_model *model,
                                   const struct tide_survival *survival)
{
    const uint32_t *const slices = survival->slices;
    if (!slices[TIDE_LIFE_BIRTHS] || !slices[TIDE_LIFE_TIME])
        return TIDE_LEAK_SOME;
    if (survival->threads >= TIDE_THREADS_LEAST &&
        survival->threads > survival->processes &&
        survival->blocks <= (uint64_t)survival->threads * TIDE_BLOCKS_OF_THREAD)
        return TIDE_LEAK_PER_THREAD;
    const bool instant = is_instant(model, survival);
    if (!instant &&
        (is_steady(survival, TIDE_LIFE_BIRTHS, TIDE_STEADY_BLOCKS_BY_BIRTHS) ||
         is_steady_by_time(model, survival)))
        return TIDE_LEAK_GROWING;
    if (instant || survival->blocks <= survival->processes ||
        is_short(slices[TIDE_LIFE_BIRTHS]) || is_short(slices[TIDE_LIFE_TIME]))
        return TIDE_LEAK_ONCE;
    return TIDE_LEAK_SOME;
}

struct tide_leak tide_leak_judge(const struct tide_model *model,
                                 const struct tide_survival *survival)
{
    struct tide_leak leak = {
        .kind = kind_of(model, survival),
        .first_s = tide_trace_seconds(model->trace, survival->first_ticks),
        .last_s = tide_trace_seconds(model->trace, survival->last_ticks),
        .threads = survival->threads,
        .processes = survival->processes,
    };
    const uint32_t by_time = survival->slices[TIDE_LIFE_TIME];
    leak.rhythm = rhythm_of(survival);
    leak.ended = leak.kind == TIDE_LEAK_GROWING &&
                 parts_of(by_time).last < TIDE_LIFE_SLICES - TIDE_ENDED_SLICES;
    const uint64_t events = model->extra_records[TIDE_EXTRA_EVENT];
    if (survival->blocks > 1 && leak.last_s - leak.first_s >= TIDE_RATE_LEAST_S)
        leak.bytes_per_second = (double)survival->bytes / (leak.last_s - leak.first_s);
    if (leak.kind == TIDE_LEAK_GROWING && events >= TIDE_EVENTS_LEAST)
        leak.bytes_per_event = survival->bytes / events;
    return leak;
}
