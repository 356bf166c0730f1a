/* model/block_maps.h - blocks of the space mmap, one by one.
 *
 * For: block_stream.c, tests/.  The rules are those of map_rules.h; what is summed apart
 * by mapped.c (reserved, files, shared) is only followed here.
 */
#ifndef TIDE_MODEL_BLOCK_MAPS_H
#define TIDE_MODEL_BLOCK_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/life_table.h"
#include "model/ranges.h"
#include "trace/event.h"

/* What a MAP event acts on; all borrowed. */
struct tide_map_scene {
    struct tide_lives *lives;
    struct tide_ranges *ranges; /* of the process */
    uint64_t *standing;         /* bytes that the process has committed */
    uint64_t *last_id;          /* of the last block born */
    uint32_t tid;               /* who calls */
    bool quiet;                 /* the caller's mappings are not counted */
    uint32_t *born;             /* becomes the entry that the event makes; 0: none */
    /* RANGE is gone from ENTRY, of which nothing may be left; MOVED: mremap made the
     * event's block of it. */
    enum tide_status (*leave)(void *user, uint32_t entry,
                              const struct tide_range *range, bool moved);
    void *user;
};

enum tide_status tide_block_maps_event(const struct tide_map_scene *scene,
                                       const struct tide_event *event);

/* The entry of the block that holds ADDRESS, 0: none does. */
uint32_t tide_block_maps_at(const struct tide_ranges *ranges, uint64_t address);

#endif
