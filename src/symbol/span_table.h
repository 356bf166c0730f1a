/* symbol/span_table.h - which of many address ranges holds an address.
 *
 * For: symbol/, tests/.  Ranges may nest and overlap; building the table cuts them into
 * pieces that do not, each owned by the innermost range, so that a question is one
 * binary search.
 */
#ifndef TIDE_SYMBOL_SPAN_TABLE_H
#define TIDE_SYMBOL_SPAN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#define TIDE_NO_OWNER UINT32_MAX

/* Where ranges overlap, the deeper one owns the piece if both begin together, else the
 * one that begins later. */
struct tide_span {
    uint64_t low, high; /* high is the first address behind it */
    uint32_t depth;
    uint32_t owner; /* whatever the caller likes, but not TIDE_NO_OWNER */
};

/* A list of all zeros is ready for use. */
struct tide_span_list {
    struct tide_span *spans; /* owned */
    size_t count, capacity;
};

/* A piece reaches to where the next begins. */
struct tide_piece {
    uint64_t low;
    uint32_t owner; /* TIDE_NO_OWNER: a gap */
};

/* A table of all zeros is ready for use, and empty. */
struct tide_span_table {
    struct tide_piece *pieces; /* owned: sorted by low; the last one is a gap */
    size_t count;
};

enum tide_status tide_span_list_add(struct tide_span_list *list,
                                    const struct tide_span *span);
void tide_span_list_release(struct tide_span_list *list);

/* Make TABLE (empty before) of what is in LIST, which is sorted by it. */
enum tide_status tide_span_table_build(struct tide_span_table *table,
                                       struct tide_span_list *list);
void tide_span_table_release(struct tide_span_table *table);

/* The owner of ADDRESS, or TIDE_NO_OWNER. */
uint32_t tide_span_table_find(const struct tide_span_table *table, uint64_t address);

#endif
