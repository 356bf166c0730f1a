/* trace/piles.h - which address a block is expected at.
 *
 * For: encode_memory.h and lane_memory.h, that is, for both sides of a trace: what the one
 * expects the other has to expect.  The rule is part of the format: see "The address
 * expected" in format.h.
 */
#ifndef TIDE_TRACE_PILES_H
#define TIDE_TRACE_PILES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/format.h"

/* Of a class from TIDE_CLASSES on: nothing is ever on that pile. */
#define TIDE_NO_CLASS (TIDE_CLASSES + 1)

/* On the piles of TIDE_CLASSES something may be, but nobody takes it. */
struct tide_piles {
    uint8_t count[TIDE_CLASSES + 2];      /* on the pile */
    uint8_t more[TIDE_CLASSES + 2];       /* in the heap behind it */
    uint8_t more_first[TIDE_CLASSES + 2]; /* the oldest of these */
    /* In the last place of each there is never anything but 0. */
    uint64_t pile[TIDE_CLASSES + 2][TIDE_PILE + 1];
    uint64_t heap[TIDE_CLASSES + 1][TIDE_HEAP];
};

static inline void tide_piles_clear(struct tide_piles *piles)
{
    memset(piles->count, 0, sizeof(piles->count));
    memset(piles->more, 0, sizeof(piles->more));
}

/* A block of CLASS, TIDE_CLASSES for all from there on, has died at ADDRESS.  Which of
 * them it is follows no rule that a processor could guess, so there is no branch on it. */
static inline void tide_piles_add(struct tide_piles *piles, uint64_t class,
                                  uint64_t address)
{
    const unsigned count = piles->count[class];
    if (__builtin_expect(count < TIDE_PILE, 1)) {
        piles->pile[class][count] = address;
        piles->count[class] = (uint8_t)(count + (class < TIDE_CLASSES));
        return;
    }
    const unsigned at = piles->more_first[class] + piles->more[class];
    piles->heap[class][at % TIDE_HEAP] = address;
    if (piles->more[class] < TIDE_HEAP)
        piles->more[class]++;
    else
        piles->more_first[class] =
            (uint8_t)((piles->more_first[class] + 1) % TIDE_HEAP);
}

static inline uint64_t tide_piles_from_heap(struct tide_piles *piles, uint64_t class)
{
    const bool newest = class < TIDE_LIFO_CLASSES;
    const unsigned first = piles->more_first[class];
    const unsigned left = --piles->more[class];
    if (!newest)
        piles->more_first[class] = (uint8_t)((first + 1) % TIDE_HEAP);
    return piles->heap[class][newest ? (first + left) % TIDE_HEAP : first];
}

/* The pile is empty: the next address from the heap, which has some, and those after it on
 * the pile. */
static __attribute__((noinline)) uint64_t tide_piles_refill(struct tide_piles *piles,
                                                            uint64_t class)
{
    const uint64_t address = tide_piles_from_heap(piles, class);
    while (piles->more[class] > 0 && piles->count[class] < TIDE_PILE)
        piles->pile[class][piles->count[class]++] = tide_piles_from_heap(piles, class);
    return address;
}

/* Take the address that a birth of CLASS is expected at; 0: none is. */
static inline uint64_t tide_piles_take(struct tide_piles *piles, uint64_t class)
{
    if (class >= TIDE_CLASSES)
        return 0;
    if (__builtin_expect(piles->count[class] > 0, 1))
        return piles->pile[class][--piles->count[class]];
    return piles->more[class] > 0 ? tide_piles_refill(piles, class) : 0;
}

#endif
