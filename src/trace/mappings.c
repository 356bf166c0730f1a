/* trace/mappings.c - which module stood at an address of a process, and when.
 *
 * The mappings of a process are sorted by start and first epoch.  At one moment they do
 * not overlap, but over time many may have held one address: so the search looks at one
 * mapping per distinct start, from the nearest start below the address downwards, and
 * stops where `reach`, the highest end so far, says that nothing further can hold it.
 */
#include "trace/mappings.h"

#include <stdlib.h>

#include "base/arena.h"

enum { TIDE_STARTS_TRIED = 32 }; /* damaged or hostile tables end the search here */

/* How many of the first COUNT mappings start at or before ADDRESS. */
static size_t starts_up_to(const struct tide_mapping *mappings, size_t count,
                           uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (mappings[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many of the mappings FROM to COUNT, which start alike, began by EPOCH. */
static size_t begun_by(const struct tide_mapping *mappings, size_t from, size_t count,
                       uint64_t epoch)
{
    size_t low = from, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (mappings[middle].first_epoch <= epoch)
            low = middle + 1;
        else
            high = middle;
    }
    return low - from;
}

const struct tide_mapping *tide_mapping_find(const struct tide_process *process,
                                             uint64_t epoch, uint64_t address)
{
    const struct tide_mapping *mappings = process->mappings;
    size_t count = starts_up_to(mappings, process->mapping_count, address);
    for (int tried = 0; count && tried < TIDE_STARTS_TRIED; tried++) {
        const uint64_t start = mappings[count - 1].start;
        if (mappings[count - 1].reach <= address)
            return NULL;
        const size_t first = start ? starts_up_to(mappings, count, start - 1) : 0;
        const size_t begun = begun_by(mappings, first, count, epoch);
        const struct tide_mapping *last = begun ? &mappings[first + begun - 1] : NULL;
        if (last && address < last->end && epoch <= last->last_epoch)
            return last;
        count = first;
    }
    return NULL;
}

const struct tide_mapping *tide_mapping_ever(const struct tide_process *process,
                                             uint64_t address, size_t *count)
{
    const struct tide_mapping *const mappings = process->mappings;
    if (*count == process->mapping_count)
        *count = starts_up_to(mappings, *count, address);
    while (*count && mappings[*count - 1].reach > address) {
        const struct tide_mapping *const mapping = &mappings[--*count];
        if (address < mapping->end)
            return mapping;
    }
    *count = 0;
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct tide_noted_mapping *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->mapping.first_epoch < y->mapping.first_epoch
               ? -1
               : x->mapping.first_epoch > y->mapping.first_epoch;
}

static int by_start(const void *a, const void *b)
{
    const struct tide_mapping *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->first_epoch < y->first_epoch ? -1 : x->first_epoch > y->first_epoch;
}

/* The last mapping with the id of END that began by its epoch, or NULL. */
static struct tide_noted_mapping *ended_by(const struct tide_list *mappings,
                                           const struct tide_noted_end *end)
{
    struct tide_noted_mapping *items = mappings->items;
    const struct tide_noted_mapping key = {
        .id = end->id, .process = end->process, .mapping.first_epoch = end->last_epoch};
    size_t low = 0, high = mappings->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_id(&items[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || items[low - 1].id != end->id || items[low - 1].process != end->process)
        return NULL;
    return &items[low - 1];
}

/* The COUNT mappings at NOTED become those of PROCESS. */
static enum tide_status give(struct tide_process *process,
                             const struct tide_noted_mapping *noted, size_t count,
                             struct tide_arena *arena)
{
    struct tide_mapping *mappings = tide_arena_take(arena, count * sizeof(*mappings));
    if (!mappings)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        mappings[i] = noted[i].mapping;
    qsort(mappings, count, sizeof(*mappings), by_start);
    uint64_t reach = 0;
    for (size_t i = 0; i < count; i++) {
        if (mappings[i].end > reach)
            reach = mappings[i].end;
        mappings[i].reach = reach;
    }
    process->mappings = mappings;
    process->mapping_count = count;
    return TIDE_OK;
}

enum tide_status tide_mappings_settle(struct tide_list *mappings,
                                      const struct tide_list *ends,
                                      struct tide_arena *arena,
                                      struct tide_process *processes, size_t count)
{
    tide_list_sort(mappings, by_id);
    const struct tide_noted_end *gone = ends->items;
    for (size_t i = 0; i < ends->count; i++) {
        struct tide_noted_mapping *mapping = ended_by(mappings, &gone[i]);
        if (mapping && mapping->mapping.last_epoch > gone[i].last_epoch)
            mapping->mapping.last_epoch = gone[i].last_epoch;
    }
    const struct tide_noted_mapping *items = mappings->items;
    for (size_t i = 0, next; i < mappings->count; i = next) {
        for (next = i + 1;
             next < mappings->count && items[next].process == items[i].process;)
            next++;
        if (items[i].process >= count)
            continue;
        const enum tide_status status =
            give(&processes[items[i].process], &items[i], next - i, arena);
        if (status)
            return status;
    }
    return TIDE_OK;
}
