/* trace/born.h - a birth, as both sides of a trace remember it.
 *
 * For: encode_memory.h and lane_memory.h.
 */
#ifndef TIDE_TRACE_BORN_H
#define TIDE_TRACE_BORN_H

#include <stdint.h>

#include "trace/format.h"

struct tide_born {
    uint64_t address;
    uint64_t after; /* where the next block begins if it stands behind this one */
};

static inline struct tide_born tide_born_at(uint64_t address, uint64_t usable)
{
    return (struct tide_born){address, address + usable + 8};
}

/* The class of its block, TIDE_CLASSES for all from there on. */
static inline uint64_t tide_class_of_born(struct tide_born born)
{
    const uint64_t class = tide_class_of(born.after - 8 - born.address);
    return class < TIDE_CLASSES ? class : TIDE_CLASSES;
}

#endif
