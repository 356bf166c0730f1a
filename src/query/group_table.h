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

enum { TIDE_GROUP_ROWS = 16 }; /* that wait; a power of two */

/* A group, and enough of its hash to pass by others unseen. */
struct tide_group_slot {
    uint32_t number; /* + 1; 0: empty */
    uint32_t hash;
};

struct tide_group_table {
    const struct tide_plan *plan; /* borrowed */
    unsigned char *groups;        /* owned */
    size_t count, capacity;
    size_t key_bytes, group_bytes;
    struct tide_group_slot *slots; /* owned */
    size_t mask;
    uint64_t seed;
    size_t climbed; /* from this number on groups have inclusive sums only; 0: none */
    size_t held;    /* bytes, with what tallies hold */
    size_t budget;  /* that may be held; 0: any number */
    /* Rows on their way: memory is asked for before it is needed. */
    struct tide_value *waiting; /* owned: TIDE_GROUP_ROWS times the plan's slots */
    uint64_t hashes[TIDE_GROUP_ROWS];
    size_t came, went; /* rows; those in between wait */
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
/* Where the values of all slots of the next row are to be put... */
struct tide_value *tide_group_table_row(const struct tide_group_table *table);
/* ...to take it then.  Rows wait a little, and count at the latest when they are settled:
 * NAMES must be the same until then. */
enum tide_status tide_group_table_take(struct tide_group_table *table,
                                       const struct tide_names *names);
enum tide_status tide_group_table_settle(struct tide_group_table *table,
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
