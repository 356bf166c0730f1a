/* query/bag.h - values, and how often each came: for percentiles and distinct counts.
 *
 * For: query/, tests/.  Exact.  Memory is that of the distinct values.
 */
#ifndef TIDE_QUERY_BAG_H
#define TIDE_QUERY_BAG_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/value.h"

struct tide_bag_entry {
    struct tide_value value;
    uint64_t count; /* 0: an empty place */
};

/* All zeros is empty. */
struct tide_bag {
    struct tide_bag_entry *places; /* owned: a hash with linear probing */
    size_t mask;                   /* places - 1; 0: none */
    size_t distinct;
    uint64_t count;
};

void tide_bag_release(struct tide_bag *bag);
/* COUNT times VALUE.  *GROWN is raised by the bytes more that are held. */
enum tide_status tide_bag_add(struct tide_bag *bag, struct tide_value value,
                              uint64_t count, size_t *grown);
/* The smallest value of which PERCENT of all are not larger (nearest rank); none when it
 * is empty or without memory. */
struct tide_value tide_bag_percentile(const struct tide_bag *bag, double percent,
                                      const struct tide_names *names);

#endif
