/* model/survivors.c - what was never freed: when it was born, and who made it.
 */
#include "model/survivors.h"

#include <stdlib.h>

#include "model/grow.h"
#include "model/pairs.h"
#include "model/process_ends.h"

void tide_survivors_release(struct tide_survivors *survivors)
{
    free(survivors->list);
    free(survivors->births);
    free(survivors->keys);
    survivors->list = NULL;
    survivors->births = NULL;
    survivors->keys = NULL;
}

/* --- The diary ---------------------------------------------------------------------- */

static void forget_row(struct tide_survivors *survivors)
{
    survivors->near = 0;
    survivors->row.count = 0;
}

/* Every second line goes, for twice the time. */
static void thin_out(struct tide_survivors *survivors)
{
    for (size_t i = 0; i < survivors->lines / 2; i++)
        survivors->diary[i] = survivors->diary[i * 2];
    survivors->lines /= 2;
    survivors->apart = survivors->apart ? survivors->apart * 2 : 1;
}

void tide_survivors_note(struct tide_survivors *survivors, uint64_t births,
                         uint64_t ticks)
{
    const struct tide_diary_line *const last =
        survivors->lines ? &survivors->diary[survivors->lines - 1] : NULL;
    if (last && births <= last->births + survivors->apart)
        return;
    if (last && ticks < last->ticks)
        ticks = last->ticks; /* another lane's clock, a little behind */
    if (survivors->lines == TIDE_DIARY_LINES)
        thin_out(survivors);
    survivors->diary[survivors->lines++] = (struct tide_diary_line){births, ticks};
    forget_row(survivors);
}

/* The first line that has NUMBER, or lines. */
static size_t find_line(const struct tide_survivors *survivors, uint64_t number)
{
    size_t from = 0, until = survivors->lines;
    while (from < until) {
        const size_t middle = from + (until - from) / 2;
        if (survivors->diary[middle].births < number)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

/* When birth NUMBER was, which line AT is the first to have. */
static uint64_t when_at(const struct tide_survivors *survivors, size_t at,
                        uint64_t number)
{
    if (survivors->lines == 0)
        return 0;
    if (at == survivors->lines)
        return survivors->diary[at - 1].ticks;
    const struct tide_diary_line after = survivors->diary[at];
    if (at == 0)
        return after.ticks;
    const struct tide_diary_line before = survivors->diary[at - 1];
    const double part =
        (double)(number - before.births) / (double)(after.births - before.births);
    return before.ticks + (uint64_t)(part * (double)(after.ticks - before.ticks));
}

uint64_t tide_survivors_when(const struct tide_survivors *survivors, uint64_t number)
{
    return when_at(survivors, find_line(survivors, number), number);
}

/* --- Places in a life ---------------------------------------------------------------- */

/* Where VALUE lies between the two of SPAN: from 0 up to 1. */
static double place_in(uint64_t value, const uint64_t *span)
{
    if (value <= span[0] || span[1] <= span[0])
        return 0;
    const double part = (double)(value - span[0]) / (double)(span[1] - span[0]);
    return part < 1 ? part : 1;
}

/* The bit of the part that PLACE is in. */
static uint32_t slice_of(double place)
{
    const unsigned slice = (unsigned)(place * TIDE_LIFE_SLICES);
    return 1u << (slice < TIDE_LIFE_SLICES ? slice : TIDE_LIFE_SLICES - 1);
}

/* On AXIS, the births of ROW have VALUES from the first to the last.  False when they are
 * not alike. */
static bool join(struct tide_birth_row *row, enum tide_life_axis axis,
                 const uint64_t *values, const uint64_t *span)
{
    const double place = place_in(values[0], span), end = place_in(values[1], span);
    row->slices[axis] = slice_of(place);
    row->place[axis] = place;
    row->step[axis] = row->count > 1 ? (end - place) / (double)(row->count - 1) : 0;
    return span[0] <= values[0] && values[1] <= span[1] &&
           slice_of(end) == slice_of(place);
}

/* The births that line AT of the diary is the first to have, if they are alike. */
static struct tide_birth_row row_before(const struct tide_survivors *survivors,
                                        size_t at)
{
    struct tide_birth_row row = {0};
    if (at == 0 || at == survivors->lines)
        return row;
    const struct tide_diary_line *const line = &survivors->diary[at];
    const uint64_t births[] = {line[-1].births + 1, line->births};
    const uint64_t ticks[] = {when_at(survivors, at, births[0]), line->ticks};
    row.first = births[0];
    row.count = births[1] - births[0] + 1;
    if (!join(&row, TIDE_LIFE_BIRTHS, births, survivors->span.births) ||
        !join(&row, TIDE_LIFE_TIME, ticks, survivors->span.ticks))
        row.count = 0;
    return row;
}

/* The same as find_line(), for one after the other. */
static size_t find_near(struct tide_survivors *survivors, uint64_t number)
{
    const struct tide_diary_line *const diary = survivors->diary;
    const size_t near = survivors->near;
    const bool right = near > 0 && near < survivors->lines &&
                       diary[near - 1].births < number && number <= diary[near].births;
    if (!right) {
        survivors->near = find_line(survivors, number);
        survivors->row = row_before(survivors, survivors->near);
    }
    return survivors->near;
}

/* --- Blocks -------------------------------------------------------------------------- */

void tide_survivors_begin(struct tide_survivors *survivors,
                          const struct tide_life_span *span)
{
    survivors->span = *span;
    forget_row(survivors);
}

/* SUM has blocks that were born between FIRST and LAST. */
static void note_time(struct tide_survival *sum, uint64_t first, uint64_t last)
{
    if (first < sum->first_ticks)
        sum->first_ticks = first;
    if (last > sum->last_ticks)
        sum->last_ticks = last;
}

void tide_survivors_end(struct tide_survivors *survivors)
{
    for (size_t i = 0; i < survivors->key_count; i++) {
        struct tide_births *const births = &survivors->births[survivors->keys[i]];
        note_time(&survivors->list[survivors->keys[i]],
                  tide_survivors_when(survivors, births->first),
                  tide_survivors_when(survivors, births->last));
        births->last = 0;
    }
    survivors->key_count = 0;
}

static void note_place(struct tide_survival *survival, enum tide_life_axis axis,
                       double place, uint64_t bytes)
{
    survival->slices[axis] |= slice_of(place);
    survival->weight[axis] += place * (double)bytes;
}

/* Room for KEY, of which the process has a block; false without memory. */
static bool make_room(struct tide_survivors *survivors, uint32_t key)
{
    const size_t wanted = (size_t)key + 1;
    struct tide_survival *const list =
        tide_grown(survivors->list, &survivors->capacity, wanted, sizeof(*list));
    survivors->list = list ? list : survivors->list;
    struct tide_births *const births = tide_grown(
        survivors->births, &survivors->births_capacity, wanted, sizeof(*births));
    survivors->births = births ? births : survivors->births;
    uint32_t *const keys = tide_grown(survivors->keys, &survivors->key_capacity,
                                      survivors->key_count + 1, sizeof(*keys));
    survivors->keys = keys ? keys : survivors->keys;
    return list && births && keys;
}

enum tide_status tide_survivors_add(struct tide_survivors *survivors, uint32_t key,
                                    uint64_t born, uint64_t size)
{
    const struct tide_life_span *const span = &survivors->span;
    if (key >= survivors->births_capacity || !survivors->births[key].last) {
        if (!make_room(survivors, key))
            return TIDE_ENOMEM;
        survivors->keys[survivors->key_count++] = key;
        survivors->births[key] = (struct tide_births){born, born};
    }
    struct tide_births *const births = &survivors->births[key];
    struct tide_survival *const sum = &survivors->list[key];
    if (!sum->blocks)
        sum->first_ticks = UINT64_MAX;
    const uint64_t ticks = when_at(survivors, find_near(survivors, born), born);
    births->first = born < births->first ? born : births->first;
    births->last = born > births->last ? born : births->last;
    sum->blocks++;
    sum->bytes += size;
    note_place(sum, TIDE_LIFE_BIRTHS, place_in(born, span->births), size);
    note_place(sum, TIDE_LIFE_TIME, place_in(ticks, span->ticks), size);
    return TIDE_OK;
}

/* Those of COUNT blocks that come before the first that is not in the row at hand, or is
 * the first of its key: how many they are. */
static size_t add_alike(const struct tide_survivors *survivors,
                        const struct tide_packed *blocks, size_t count)
{
    const struct tide_birth_row row = survivors->row;
    struct tide_births *const all = survivors->births;
    struct tide_survival *const list = survivors->list;
    const size_t keys = survivors->births_capacity;
    size_t i = 0;
    for (; i < count; i++) {
        const uint64_t born = blocks[i].born & TIDE_BIRTHS_MAX, at = born - row.first;
        const uint64_t key = (blocks[i].what >> (32 + TIDE_LOW_BITS)) - 1;
        const uint32_t size = (uint32_t)blocks[i].what;
        if (at >= row.count || key >= keys || !all[key].last)
            break;
        struct tide_survival *const sum = &list[key];
        all[key].first = born < all[key].first ? born : all[key].first;
        all[key].last = born > all[key].last ? born : all[key].last;
        sum->blocks++;
        sum->bytes += size;
        /* Both are small: signed numbers are converted in one instruction. */
        const double after = (double)(int64_t)at, bytes = (double)(int64_t)size;
        for (int axis = 0; axis < TIDE_LIFE_AXES; axis++) {
            sum->slices[axis] |= row.slices[axis];
            sum->weight[axis] += (row.place[axis] + row.step[axis] * after) * bytes;
        }
    }
    return i;
}

enum tide_status tide_survivors_add_packed(struct tide_survivors *survivors,
                                           const struct tide_live_store *store,
                                           const struct tide_packed *blocks,
                                           size_t count)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < count && !status; i++) {
        i += add_alike(survivors, blocks + i, count - i);
        if (i == count)
            break;
        const struct tide_block other = tide_packed_block(store, blocks[i], 0);
        status = tide_survivors_add(survivors, other.key - 1, other.born, other.size);
    }
    return status;
}

/* --- Sums ---------------------------------------------------------------------------- */

void tide_survival_merge(struct tide_survival *sum, const struct tide_survival *one)
{
    if (one->blocks == 0)
        return;
    if (sum->blocks == 0)
        sum->first_ticks = UINT64_MAX;
    note_time(sum, one->first_ticks, one->last_ticks);
    sum->blocks += one->blocks;
    sum->bytes += one->bytes;
    for (int axis = 0; axis < TIDE_LIFE_AXES; axis++) {
        sum->slices[axis] |= one->slices[axis];
        sum->weight[axis] += one->weight[axis];
    }
}

struct tide_survivors *tide_survivors_beside(const struct tide_survivors *survivors)
{
    struct tide_survivors *const other = malloc(sizeof(*other));
    if (!other)
        return NULL;
    *other = *survivors;
    other->list = NULL;
    other->births = NULL;
    other->keys = NULL;
    other->capacity = other->births_capacity = other->key_capacity = 0;
    other->key_count = 0;
    return other;
}

bool tide_survivors_join(struct tide_survivors *survivors, struct tide_survivors *other)
{
    bool memory = true;
    for (size_t i = 0; memory && i < other->capacity; i++) {
        if (other->list[i].blocks == 0)
            continue;
        memory = i < survivors->capacity || make_room(survivors, (uint32_t)i);
        if (memory)
            tide_survival_merge(&survivors->list[i], &other->list[i]);
    }
    tide_survivors_release(other);
    free(other);
    return memory;
}

/* Is PAIR new in SEEN?  Then one more in *COUNT. */
static bool count_new(struct tide_pairs *seen, struct tide_pair pair, uint32_t *count)
{
    const size_t before = seen->count;
    uint32_t number;
    if (tide_pairs_find(seen, pair, &number))
        return false;
    *count += seen->count > before;
    return true;
}

/* What a site made is no younger than its last birth, nor older than its first. */
static void settle(struct tide_survival *survival, const struct tide_site *site)
{
    const bool all = survival->blocks == site->calls; /* then it is known exactly */
    if (survival->blocks == 0)
        return;
    if (all || survival->first_ticks < site->first_ticks)
        survival->first_ticks = site->first_ticks;
    if (all || survival->last_ticks > site->last_ticks)
        survival->last_ticks = site->last_ticks;
    if (survival->first_ticks > survival->last_ticks)
        survival->first_ticks = survival->last_ticks;
}

static bool is_held(const struct tide_model *model, uint32_t process)
{
    return process < model->trace->process_count &&
           tide_process_broke_off(&model->trace->processes[process]);
}

static bool gather(const struct tide_survivors *survivors,
                   const struct tide_model *model, const uint32_t *by_stack, bool lost,
                   struct tide_survival *out)
{
    struct tide_pairs threads = {0}, processes = {0};
    bool memory = true;
    for (size_t i = 0; memory && i < survivors->capacity && i < model->key_count; i++) {
        const struct tide_key *const key = &model->keys[i];
        if (survivors->list[i].blocks == 0)
            continue;
        const uint32_t site = by_stack[key->stack] - 1;
        const uint32_t thread = model->contexts[key->context].thread;
        const uint32_t process = model->key_threads[thread].process;
        if (lost && is_held(model, process))
            continue;
        tide_survival_merge(&out[site], &survivors->list[i]);
        memory =
            count_new(&threads, (struct tide_pair){site, thread}, &out[site].threads) &&
            count_new(&processes, (struct tide_pair){site, process},
                      &out[site].processes);
    }
    tide_pairs_release(&threads);
    tide_pairs_release(&processes);
    return memory;
}

struct tide_survival *tide_survivors_by_site(const struct tide_survivors *survivors,
                                             const struct tide_model *model, bool lost)
{
    uint32_t *const by_stack =
        calloc((size_t)model->stacks.node_count + 1, sizeof(*by_stack));
    struct tide_survival *out = calloc(model->site_count + 1, sizeof(*out));
    for (size_t i = 0; by_stack && i < model->site_count; i++) {
        if (model->sites[i].space == TIDE_IN_HEAP)
            by_stack[model->sites[i].stack] = (uint32_t)i + 1;
    }
    if (!by_stack || !out || !gather(survivors, model, by_stack, lost, out)) {
        free(out);
        out = NULL;
    }
    for (size_t i = 0; out && i < model->site_count; i++)
        settle(&out[i], &model->sites[i]);
    free(by_stack);
    return out;
}
