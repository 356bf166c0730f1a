/* model/pairs.h - pairs of words, numbered in the order in which they first come.
 *
 * For: model/, tests/.  What keys are made of is known by small numbers: a region is
 * (region around it, name), a context (thread and region, label and space).  The hash
 * has a seed, so that a trace cannot be written to make all pairs collide.
 */
#ifndef TIDE_MODEL_PAIRS_H
#define TIDE_MODEL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

struct tide_pair {
    uint64_t one, other;
};

/* All zeros is ready for use; the seed may be set before the first pair. */
struct tide_pairs {
    struct tide_pair *list; /* owned, by number */
    size_t count, capacity;
    uint32_t *slots; /* owned: number + 1 */
    size_t mask;
    uint64_t seed;
};

void tide_pairs_release(struct tide_pairs *pairs);

/* The number of PAIR + 1 when it is known, else 0. */
uint32_t tide_pairs_known(const struct tide_pairs *pairs, struct tide_pair pair);

/* The number of PAIR, new or known. */
enum tide_status tide_pairs_find(struct tide_pairs *pairs, struct tide_pair pair,
                                 uint32_t *out);

#endif
