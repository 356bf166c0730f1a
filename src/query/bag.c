/* query/bag.c - values, and how often each came. */
#include "query/bag.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { TIDE_BAG_FIRST = 16 }; /* places, a power of two */

void tide_bag_release(struct tide_bag *bag)
{
    free(bag->places);
    *bag = (struct tide_bag){0};
}

static struct tide_bag_entry *place_of(const struct tide_bag *bag,
                                       struct tide_value value)
{
    uint64_t mixed = (value.word + value.type) * 0x9e3779b97f4a7c15ull;
    mixed ^= mixed >> 32;
    mixed *= 0xbf58476d1ce4e5b9ull;
    size_t at = (size_t)(mixed >> 20) & bag->mask;
    while (bag->places[at].count && (bag->places[at].value.word != value.word ||
                                     bag->places[at].value.type != value.type))
        at = (at + 1) & bag->mask;
    return &bag->places[at];
}

static enum tide_status widen(struct tide_bag *bag, size_t *grown)
{
    const size_t before = bag->places ? bag->mask + 1 : 0;
    struct tide_bag wider = *bag;
    const size_t after = before ? before * 2 : TIDE_BAG_FIRST;
    wider.places = calloc(after, sizeof(*wider.places));
    wider.mask = after - 1;
    if (!wider.places)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < before; i++)
        if (bag->places[i].count)
            *place_of(&wider, bag->places[i].value) = bag->places[i];
    free(bag->places);
    *bag = wider;
    *grown += (after - before) * sizeof(*wider.places);
    return TIDE_OK;
}

enum tide_status tide_bag_add(struct tide_bag *bag, struct tide_value value,
                              uint64_t count, size_t *grown)
{
    if (!bag->places || bag->distinct * 2 > bag->mask) {
        const enum tide_status status = widen(bag, grown);
        if (status)
            return status;
    }
    if (value.type == TIDE_VALUE_REAL && value.real == 0.0)
        value.real = 0.0; /* -0.0 is the same number */
    struct tide_bag_entry *const entry = place_of(bag, value);
    bag->distinct += entry->count == 0;
    entry->value = value;
    entry->count += count;
    bag->count += count;
    return TIDE_OK;
}

/* A value to be sorted, with what its strings mean. */
struct sorted {
    struct tide_bag_entry entry;
    const struct tide_names *names;
};

static int by_value(const void *one, const void *other)
{
    const struct sorted *const a = one;
    const struct sorted *const b = other;
    return tide_value_compare(a->entry.value, b->entry.value, a->names);
}

struct tide_value tide_bag_percentile(const struct tide_bag *bag, double percent,
                                      const struct tide_names *names)
{
    struct tide_value found = tide_value_none();
    struct sorted *const list =
        bag->distinct ? calloc(bag->distinct, sizeof(*list)) : NULL;
    size_t count = 0;
    if (!list)
        return found;
    for (size_t i = 0; i <= bag->mask; i++)
        if (bag->places[i].count)
            list[count++] = (struct sorted){bag->places[i], names};
    qsort(list, count, sizeof(*list), by_value);
    const double wanted = ceil(percent / 100.0 * (double)bag->count);
    uint64_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        seen += list[i].entry.count;
        found = list[i].entry.value;
        if ((double)seen >= wanted)
            break;
    }
    free(list);
    return found;
}
