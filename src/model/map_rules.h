/* model/map_rules.h - what the calls of the mmap family do to the ranges of a process.
 *
 * For: mapped.c, which sums up, and block_maps.c, which follows each block; tests/.  Here is
 * decided which addresses become what; a side says what that means for its books.
 */
#ifndef TIDE_MODEL_MAP_RULES_H
#define TIDE_MODEL_MAP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/ranges.h"
#include "trace/event.h"

enum tide_map_kind {
    TIDE_MAPPED_COMMITTED = 0, /* private, anonymous, may be touched */
    TIDE_MAPPED_RESERVED = 1,  /* the same, PROT_NONE */
    TIDE_MAPPED_FILE = 2,
    TIDE_MAPPED_SHARED = 3,
    TIDE_MAPPED_KINDS = 4,
};

/* The tag of a range says what it is: a kind, a kind that is not counted, or, for what is
 * committed and counted, whatever the side wants from TIDE_TAG_COUNTED on. */
enum {
    TIDE_TAG_QUIET = 4, /* + kind: not counted */
    TIDE_TAG_COUNTED = 8,
};

struct tide_map_side {
    struct tide_ranges *ranges; /* of the process */
    bool quiet;                 /* what mmap maps now is not counted */
    void *user;
    /* [START, END) becomes KIND, perhaps + TIDE_TAG_QUIET: *TAG is what its range is to be
     * tagged with. */
    enum tide_status (*enter)(void *user, uint64_t start, uint64_t end, uint32_t kind,
                              uint32_t *tag);
    /* The bytes of RANGE are no longer what their tag says. */
    enum tide_status (*leave)(void *user, const struct tide_range *range);
    /* mremap is about to move what has TAG. */
    void (*move)(void *user, uint32_t tag);
};

enum tide_status tide_map_apply(const struct tide_map_side *side,
                                const struct tide_event *event);

#endif
