/* model/ranges.h - the mapped ranges of one process, in order of address.
 *
 * For: model/, tests/.  Ranges never overlap.  Every step costs the logarithm of their
 * number, whatever the trace does.
 */
#ifndef TIDE_MODEL_RANGES_H
#define TIDE_MODEL_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

struct tide_range {
    uint64_t start, end; /* end is not in it */
    uint32_t tag;        /* the user's */
    uint32_t left, right, priority;
};

struct tide_ranges {
    struct tide_range *list; /* owned; entry 0 is nobody */
    size_t count, capacity;  /* count: entries ever used */
    uint32_t root, spare;    /* spare: unused entries, linked by left */
    uint32_t random;
};

/* Ranges of all zeros are ready for use. */
void tide_ranges_release(struct tide_ranges *ranges);

/* Add [START, END), which must not overlap any other. */
enum tide_status tide_ranges_add(struct tide_ranges *ranges, uint64_t start,
                                 uint64_t end, uint32_t tag);
void tide_ranges_remove(struct tide_ranges *ranges, uint32_t range);

/* The first range that ends after ADDRESS, 0 for none. */
uint32_t tide_ranges_after(const struct tide_ranges *ranges, uint64_t address);

/* Make ADDRESS a border: a range that holds it inside becomes two. */
enum tide_status tide_ranges_cut(struct tide_ranges *ranges, uint64_t address);

#endif
