/* model/pairs.c - pairs of words, numbered in the order in which they first come.
 */
#include "model/pairs.h"

#include <stdlib.h>

#include "model/grow.h"

enum { TIDE_PAIR_SLOTS_FIRST = 64 }; /* a power of two */

void tide_pairs_release(struct tide_pairs *pairs)
{
    free(pairs->list);
    free(pairs->slots);
    *pairs = (struct tide_pairs){0};
}

static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    return word ^ (word >> 31);
}

/* The slot of PAIR, or the empty one where it would be. */
static uint32_t *find_slot(const struct tide_pairs *pairs, struct tide_pair pair)
{
    const uint64_t hash = mix(mix(pair.one ^ pairs->seed) + pair.other);
    size_t at = (size_t)(hash >> 16) & pairs->mask;
    for (;;) {
        const uint32_t number = pairs->slots[at];
        if (!number || (pairs->list[number - 1].one == pair.one &&
                        pairs->list[number - 1].other == pair.other))
            return &pairs->slots[at];
        at = (at + 1) & pairs->mask;
    }
}

static enum tide_status widen(struct tide_pairs *pairs)
{
    const size_t slots = pairs->slots ? (pairs->mask + 1) * 2 : TIDE_PAIR_SLOTS_FIRST;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    free(pairs->slots);
    pairs->slots = wider;
    pairs->mask = slots - 1;
    for (size_t i = 0; i < pairs->count; i++)
        *find_slot(pairs, pairs->list[i]) = (uint32_t)i + 1;
    return TIDE_OK;
}

uint32_t tide_pairs_known(const struct tide_pairs *pairs, struct tide_pair pair)
{
    return pairs->slots ? *find_slot(pairs, pair) : 0;
}

enum tide_status tide_pairs_find(struct tide_pairs *pairs, struct tide_pair pair,
                                 uint32_t *out)
{
    if (!pairs->slots || pairs->count > pairs->mask / 2) {
        const enum tide_status status = widen(pairs);
        if (status)
            return status;
    }
    uint32_t *const slot = find_slot(pairs, pair);
    if (!*slot) {
        if (pairs->count >= UINT32_MAX - 1)
            return TIDE_ELIMIT;
        struct tide_pair *const list =
            tide_grown(pairs->list, &pairs->capacity, pairs->count + 1, sizeof(*list));
        if (!list)
            return TIDE_ENOMEM;
        pairs->list = list;
        list[pairs->count++] = pair;
        *slot = (uint32_t)pairs->count;
    }
    *out = *slot - 1;
    return TIDE_OK;
}
