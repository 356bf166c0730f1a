/* query/attribute.h - what rows have: the names that a query may use.
 *
 * For: query/, view/, cli/, tests/.
 *
 * To add one: an entry in enum and table (attribute.c), a case in field.c, and a line in
 * docs/query.md and the man page.
 */
#ifndef TIDE_QUERY_ATTRIBUTE_H
#define TIDE_QUERY_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/value.h"

/* FROM what. */
enum tide_query_source {
    TIDE_FROM_EVENTS,
    TIDE_FROM_BLOCKS,
    TIDE_FROM_SNAPSHOTS,
    TIDE_FROM_REGIONS,
    TIDE_FROM_TIMELINE,
    TIDE_SOURCES,
};

enum tide_attribute_id {
    TIDE_ATTRIBUTE_MEM_ALLOC,
    TIDE_ATTRIBUTE_MEM_FREE,
    TIDE_ATTRIBUTE_ALLOC_UID,
    TIDE_ATTRIBUTE_ALLOC_ADDRESS,
    TIDE_ATTRIBUTE_ALLOC_TOTAL_SIZE,
    TIDE_ATTRIBUTE_MEM_ACTIVE,
    TIDE_ATTRIBUTE_HIGH_WATER,
    TIDE_ATTRIBUTE_TALLY,
    TIDE_ATTRIBUTE_OWN_COUNT,
    TIDE_ATTRIBUTE_OWN_BYTES,
    TIDE_ATTRIBUTE_OWN_AVERAGE,
    TIDE_ATTRIBUTE_OWN_LARGEST,
    TIDE_ATTRIBUTE_REGION,
    TIDE_ATTRIBUTE_FUNCTION, /* paths of one kind of region, to PHASE */
    TIDE_ATTRIBUTE_ANNOTATION,
    TIDE_ATTRIBUTE_LOOP,
    TIDE_ATTRIBUTE_PHASE,
    TIDE_ATTRIBUTE_ALLOC_REGION,
    TIDE_ATTRIBUTE_FREE_REGION,
    TIDE_ATTRIBUTE_LABEL,
    TIDE_ATTRIBUTE_BLOCK_LABEL,
    TIDE_ATTRIBUTE_SHAPE,
    TIDE_ATTRIBUTE_KIND,
    TIDE_ATTRIBUTE_SPACE,
    TIDE_ATTRIBUTE_SIZE,
    TIDE_ATTRIBUTE_USABLE,
    TIDE_ATTRIBUTE_LIFETIME,
    TIDE_ATTRIBUTE_AGE,
    TIDE_ATTRIBUTE_THREAD,
    TIDE_ATTRIBUTE_THREAD_NAME,
    TIDE_ATTRIBUTE_ALLOC_THREAD,
    TIDE_ATTRIBUTE_FREE_THREAD,
    TIDE_ATTRIBUTE_PROCESS,
    TIDE_ATTRIBUTE_PROCESS_NAME,
    TIDE_ATTRIBUTE_RANK,
    TIDE_ATTRIBUTE_TRACE,
    TIDE_ATTRIBUTE_STACK,
    TIDE_ATTRIBUTE_LEAF,
    TIDE_ATTRIBUTE_MODULE,
    TIDE_ATTRIBUTE_FILE,
    TIDE_ATTRIBUTE_LINE,
    TIDE_ATTRIBUTE_TIME,
    TIDE_ATTRIBUTE_TIME_OFFSET,
    TIDE_ATTRIBUTE_TIME_OFFSET_NS,
    TIDE_ATTRIBUTE_FREE_TIME,
    TIDE_ATTRIBUTE_LIVE,
    TIDE_ATTRIBUTE_TEMPORARY,
    TIDE_ATTRIBUTE_FOREIGN,
    TIDE_ATTRIBUTE_PEAK,
    TIDE_ATTRIBUTE_EVENT,
    TIDE_ATTRIBUTE_ITERATION,
    TIDE_ATTRIBUTE_BEGIN_REGION,
    TIDE_ATTRIBUTE_END_REGION,
    TIDE_ATTRIBUTE_BEGIN_ITERATION,
    TIDE_ATTRIBUTE_END_ITERATION,
    TIDE_ATTRIBUTE_SET_EVENT,
    TIDE_ATTRIBUTE_SNAPSHOT,
    TIDE_ATTRIBUTE_DURATION,
    TIDE_ATTRIBUTE_TIME_DURATION,
    TIDE_ATTRIBUTE_ALLOCS,
    TIDE_ATTRIBUTE_ALLOCATED,
    TIDE_ATTRIBUTE_FREES,
    TIDE_ATTRIBUTE_FREED,
    TIDE_ATTRIBUTE_GROWTH,
    TIDE_ATTRIBUTE_MEM_PEAK,
    TIDE_ATTRIBUTE_MMAP_ACTIVE,
    TIDE_ATTRIBUTE_BLOCKS,
    TIDE_ATTRIBUTE_RSS,
    TIDE_ATTRIBUTE_RSS_PAGES,
    TIDE_ATTRIBUTES,
};

/* What numbers of an attribute count, so that 2s and 1MiB can be compared with them. */
enum tide_attribute_unit {
    TIDE_UNIT_NONE,
    TIDE_UNIT_BYTES,
    TIDE_UNIT_SECONDS,
    TIDE_UNIT_MICROSECONDS,
    TIDE_UNIT_NANOSECONDS,
};

struct tide_attribute {
    const char *name;
    enum tide_value_type type;
    enum tide_attribute_unit unit;
    unsigned sources; /* bits: 1 << enum tide_query_source */
    const char *words;
};

/* By enum tide_attribute_id. */
extern const struct tide_attribute tide_attribute_table[TIDE_ATTRIBUTES];
/* By enum tide_query_source. */
extern const char *const tide_source_names[TIDE_SOURCES];

/* The attribute that is called NAME, also by its other names; TIDE_ATTRIBUTES: none. */
enum tide_attribute_id tide_attribute_find(const char *name);
/* Is NAME an attribute whose values Caliper's programs mark as regions? */
bool tide_attribute_is_of_regions(const char *name);
/* The same where - and _ in NAME may stand for each other: usable-size, alloc.total-size. */
enum tide_attribute_id tide_attribute_find_alike(const char *name);
/* The name most like NAME among those that rows of SOURCES (bits) have, and MORE; NULL:
 * none is. */
const char *tide_attribute_nearest(const char *name, unsigned sources,
                                   const char *const *more, size_t more_count);

#endif
