/* query/group_table.h - rows that belong together: hash aggregation.
 *
 * For: query/, tests/.  A group is its keys and a tally for each sum, in one stretch of
 * memory; groups have numbers in the order in which they first came.
 */
#ifndef TIDE_QUERY_GROUP_TABLE_H
#define TIDE_QUERY_GROUP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/group_tally.h"
#include "query/plan.h"
#include "query/value.h"

struct tide_group_table {
    const struct tide_plan *plan; /* borrowed */
    unsigned char *groups;        /* owned */
    size_t count, capacity;
    size_t key_bytes, group_bytes;
    uint32_t *slots; /* owned: number + 1 */
    size_t mask;
    uint64_t seed;
    size_t climbed; /* from this number on groups have inclusive sums only; 0: none */
    size_t held;    /* bytes, with what tallies hold */
    size_t budget;  /* that may be held; 0: any number */
};

enum tide_status tide_group_table_init(struct tide_group_table *table,
                                       const struct tide_plan *plan, size_t budget);
void tide_group_table_release(struct tide_group_table *table);

/* The number of the group of KEYS (plan->key_count of them), new or known.  ELIMIT: it
 * would be too much memory. */
enum tide_status tide_group_table_find(struct tide_group_table *table,
                                       const struct tide_value *keys, size_t *out);
struct tide_value tide_group_key(const struct tide_group_table *table, size_t group,
                                 size_t key);
struct tide_tally *tide_group_tallies(const struct tide_group_table *table,
                                      size_t group);
/* Take a row: SLOTS has the values of all slots. */
enum tide_status tide_group_table_take(struct tide_group_table *table,
                                       const struct tide_value *slots,
                                       const struct tide_names *names);
/* Add all groups of FROM, which are about FROM_NAMES. */
enum tide_status tide_group_table_merge(struct tide_group_table *table,
                                        struct tide_names *names,
                                        const struct tide_group_table *from,
                                        const struct tide_names *from_names);
/* Inclusive sums: what a group has counts for every path around it as well, for which
 * groups are made where there are none. */
enum tide_status tide_group_table_climb(struct tide_group_table *table,
                                        struct tide_names *names);

#endif
