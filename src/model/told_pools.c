/* model/told_pools.c - blocks that the program's own pools gave out, and what holds them.
 */
#include <stdlib.h>

#include "model/grow.h"
#include "model/told_walk.h"
#include "trace/format.h"

/* --- Blocks of the heap --------------------------------------------------------------- */

static enum tide_status take_holder(struct tide_told_walk *walk, uint32_t *out)
{
    if (walk->spare_holder) {
        *out = walk->spare_holder - 1;
        walk->spare_holder = walk->holders[*out].spare;
        return TIDE_OK;
    }
    struct tide_holder *const holders =
        tide_grown(walk->holders, &walk->holder_capacity, walk->holder_count + 1,
                   sizeof(*holders));
    if (!holders)
        return TIDE_ENOMEM;
    walk->holders = holders;
    *out = (uint32_t)walk->holder_count++;
    return TIDE_OK;
}

/* The range in RANGES that holds ADDRESS; NULL: none does. */
static const struct tide_range *range_at(const struct tide_ranges *ranges,
                                         uint64_t address, uint32_t *number)
{
    *number = tide_ranges_after(ranges, address);
    if (!*number || ranges->list[*number].start > address)
        return NULL;
    return &ranges->list[*number];
}

void tide_told_holder_dies(struct tide_told_walk *walk, uint32_t process,
                           uint64_t address)
{
    struct tide_ranges *const heap = &walk->processes[process].heap;
    uint32_t number;
    const struct tide_range *const range = range_at(heap, address, &number);
    if (!range || range->start != address)
        return;
    walk->holders[range->tag].spare = walk->spare_holder;
    walk->spare_holder = range->tag + 1;
    tide_ranges_remove(heap, number);
}

/* What a damaged trace puts in the way of a block is taken away first. */
enum tide_status tide_told_holder_born(struct tide_told_walk *walk,
                                       const struct tide_life *life)
{
    struct tide_ranges *const heap = &walk->processes[life->process].heap;
    const uint64_t bytes = life->size ? life->size : 1;
    const uint64_t end = life->address + bytes;
    uint32_t holder, number = tide_ranges_after(heap, life->address);
    if (end < life->address)
        return TIDE_OK;
    while (number && heap->list[number].start < end) {
        tide_told_holder_dies(walk, life->process, heap->list[number].start);
        number = tide_ranges_after(heap, life->address);
    }
    const enum tide_status status = take_holder(walk, &holder);
    if (status)
        return status;
    walk->holders[holder] =
        (struct tide_holder){.bytes = life->size, .label = "", .stack = life->stack};
    return tide_ranges_add(heap, life->address, end, holder);
}

static enum tide_status name_holder(struct tide_told_walk *walk,
                                    const struct tide_event *event)
{
    uint32_t number;
    const struct tide_range *const range =
        range_at(&walk->processes[event->process].heap, event->value, &number);
    const char *const text = tide_told_text(walk, event->process, event->value2);
    if (!text)
        return TIDE_ENOMEM;
    if (range && range->start == event->value)
        walk->holders[range->tag].label = text;
    return TIDE_OK;
}

/* --- Blocks of pools ------------------------------------------------------------------ */

static enum tide_status find_pool(struct tide_told_walk *walk, uint32_t process,
                                  uint64_t name, uint32_t *out)
{
    struct tide_told *const told = walk->told;
    const char *const text = tide_told_text(walk, process, name);
    if (!text || tide_pairs_find(&walk->pool_names,
                                 (struct tide_pair){(uint64_t)(uintptr_t)text, 0}, out))
        return TIDE_ENOMEM;
    struct tide_told_pool *const pools =
        tide_grown(told->pools, &walk->pool_capacity, (size_t)*out + 1, sizeof(*pools));
    if (!pools)
        return TIDE_ENOMEM;
    told->pools = pools;
    told->pool_count = walk->pool_names.count;
    pools[*out].name = text;
    return TIDE_OK;
}

static struct tide_ranges *given_by(struct tide_told_walk *walk, uint32_t process,
                                    uint32_t pool)
{
    uint32_t number;
    if (tide_pairs_find(&walk->givens_of, (struct tide_pair){process, pool}, &number))
        return NULL;
    struct tide_told_given *const givens = tide_grown(
        walk->givens, &walk->given_capacity, (size_t)number + 1, sizeof(*givens));
    if (!givens)
        return NULL;
    walk->givens = givens;
    return &givens[number].ranges;
}

/* The piece of POOL with LABEL for the block at the event's address. */
static enum tide_status find_piece(struct tide_told_walk *walk,
                                   const struct tide_event *event, uint32_t pool,
                                   const char *label, uint32_t *out)
{
    struct tide_told *const told = walk->told;
    uint32_t number, kind = 0;
    const struct tide_range *const range =
        range_at(&walk->processes[event->process].heap, event->value, &number);
    const struct tide_holder *const holder = range ? &walk->holders[range->tag] : NULL;
    enum tide_status status = TIDE_OK;
    if (holder)
        status = tide_pairs_find(
            &walk->holder_kinds,
            (struct tide_pair){holder->stack, (uint64_t)(uintptr_t)holder->label},
            &kind);
    const struct tide_pair place = {(uint64_t)pool << 32 | (holder ? kind + 1 : 0),
                                    (uint64_t)(uintptr_t)label};
    if (!status)
        status = tide_pairs_find(&walk->piece_kinds, place, out);
    if (status)
        return status;
    struct tide_told_piece *const pieces = tide_grown(
        told->pieces, &walk->piece_capacity, (size_t)*out + 1, sizeof(*pieces));
    if (!pieces)
        return TIDE_ENOMEM;
    told->pieces = pieces;
    told->piece_count = walk->piece_kinds.count;
    struct tide_told_piece *const piece = &pieces[*out];
    piece->pool = pool;
    piece->label = label;
    piece->held = holder != NULL;
    piece->holder_label = holder ? holder->label : "";
    piece->holder_stack = holder ? holder->stack : 0;
    if (holder && holder->bytes > piece->holder_bytes)
        piece->holder_bytes = holder->bytes;
    return TIDE_OK;
}

static void take_back(struct tide_told_walk *walk, struct tide_ranges *given,
                      uint32_t pool, uint32_t number)
{
    const struct tide_range range = given->list[number];
    struct tide_told_piece *const piece = &walk->told->pieces[range.tag];
    const uint64_t bytes = range.end - range.start;
    piece->live_blocks--;
    piece->live_bytes -= bytes;
    walk->told->pools[pool].live_blocks--;
    walk->told->pools[pool].live_bytes -= bytes;
    tide_ranges_remove(given, number);
}

static enum tide_status give(struct tide_told_walk *walk,
                             const struct tide_event *event)
{
    const uint64_t start = event->value;
    const uint64_t end = start + (event->value2 ? event->value2 : 1);
    uint32_t pool, number;
    enum tide_status status =
        find_pool(walk, event->process, event->value3 >> 32, &pool);
    const char *const label =
        tide_told_text(walk, event->process, event->value3 & UINT32_MAX);
    uint32_t piece;
    if (!status)
        status = label ? find_piece(walk, event, pool, label, &piece) : TIDE_ENOMEM;
    struct tide_ranges *const given =
        status ? NULL : given_by(walk, event->process, pool);
    if (!given)
        return status ? status : TIDE_ENOMEM;
    if (end < start)
        return TIDE_OK;
    while ((number = tide_ranges_after(given, start)) &&
           given->list[number].start < end)
        take_back(walk, given, pool, number); /* given out twice */
    struct tide_told_pool *const total = &walk->told->pools[pool];
    struct tide_told_piece *const part = &walk->told->pieces[piece];
    total->calls++;
    total->bytes += event->value2;
    total->live_blocks++;
    total->live_bytes += end - start;
    if (total->live_bytes > total->peak_bytes)
        total->peak_bytes = total->live_bytes;
    part->calls++;
    part->bytes += event->value2;
    part->live_blocks++;
    part->live_bytes += end - start;
    return tide_ranges_add(given, start, end, piece);
}

static enum tide_status get_back(struct tide_told_walk *walk,
                                 const struct tide_event *event)
{
    uint32_t pool, number;
    const enum tide_status status =
        find_pool(walk, event->process, event->value2, &pool);
    struct tide_ranges *const given =
        status ? NULL : given_by(walk, event->process, pool);
    if (!given)
        return status ? status : TIDE_ENOMEM;
    const struct tide_range *const range = range_at(given, event->value, &number);
    walk->told->pools[pool].free_calls++;
    if (range && range->start == event->value)
        take_back(walk, given, pool, number);
    else
        walk->told->pools[pool].unmatched_frees++;
    return TIDE_OK;
}

enum tide_status tide_told_pool_mark(struct tide_told_walk *walk,
                                     const struct tide_event *event)
{
    switch (event->extra) {
    case TIDE_EXTRA_LABEL:
        return name_holder(walk, event);
    case TIDE_EXTRA_POOL_ALLOC:
        return give(walk, event);
    case TIDE_EXTRA_POOL_FREE:
        return get_back(walk, event);
    default:
        return TIDE_OK;
    }
}

enum tide_status tide_told_sort_pieces(struct tide_told *told)
{
    struct tide_told_piece *const sorted =
        calloc(told->piece_count + 1, sizeof(*sorted));
    size_t *const places = calloc(told->pool_count + 1, sizeof(*places));
    if (!sorted || !places) {
        free(sorted);
        free(places);
        return TIDE_ENOMEM;
    }
    for (size_t i = 0; i < told->piece_count; i++)
        places[told->pieces[i].pool + 1]++;
    for (size_t i = 0; i < told->pool_count; i++)
        places[i + 1] += places[i];
    for (size_t i = 0; i < told->piece_count; i++)
        sorted[places[told->pieces[i].pool]++] = told->pieces[i];
    free(places);
    free(told->pieces);
    told->pieces = sorted;
    return TIDE_OK;
}

void tide_told_pools_release(struct tide_told_walk *walk)
{
    for (size_t i = 0; i < walk->givens_of.count && walk->givens; i++)
        if (i < walk->given_capacity)
            tide_ranges_release(&walk->givens[i].ranges);
    for (size_t i = 0; walk->processes && i < walk->model->trace->process_count; i++)
        tide_ranges_release(&walk->processes[i].heap);
    free(walk->givens);
    free(walk->holders);
    tide_pairs_release(&walk->pool_names);
    tide_pairs_release(&walk->givens_of);
    tide_pairs_release(&walk->holder_kinds);
    tide_pairs_release(&walk->piece_kinds);
}
