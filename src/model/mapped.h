/* model/mapped.h - what mmap and its family did to the memory of a process.
 *
 * For: model/, tests/.  The space mmap counts committed private anonymous memory.  What
 * is only reserved (PROT_NONE), backed by a file or shared is summed apart.  Memory that
 * an allocator, the loader or a driver maps for itself is followed but not counted: the
 * heap counts what is handed out of it.
 *
 *   block        what one call committed; it lives until its last byte is gone
 *   alloc call   one that committed some (mmap, mremap, mprotect from PROT_NONE)
 *   free call    one that gave some up (munmap, mremap's old half, mprotect to
 *                PROT_NONE, a mapping laid over it)
 *
 * mremap counts as realloc does: the old half dies, the new one is born at the caller's
 * stack.  Whether a range is counted is decided where it was first mapped.  Unmapping
 * what is not known is no error: it may be older than the recorder.
 */
#ifndef TIDE_MODEL_MAPPED_H
#define TIDE_MODEL_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/key.h"
#include "model/map_rules.h"
#include "model/ranges.h"
#include "trace/event.h"

/* What one call committed. */
struct tide_commit {
    uint64_t bytes; /* still there */
    uint64_t born;  /* the number of its birth */
    uint32_t key;
    uint32_t next; /* unused entries: the next one + 1 */
};

/* Of the whole run. */
struct tide_maps {
    struct tide_keys *keys;       /* borrowed */
    struct tide_watermark *water; /* borrowed: of the space mmap */
    struct tide_watermark *heap;  /* borrowed */

    struct tide_commit *commits; /* owned */
    size_t commit_count, commit_capacity;
    uint32_t spare_commit; /* index + 1 */

    uint64_t standing[TIDE_MAPPED_KINDS]; /* not COMMITTED: see water */
    uint64_t highest[TIDE_MAPPED_KINDS];
    uint64_t free_calls, realloc_calls;
};

/* Of one process.  All zeros is ready for use. */
struct tide_mapped {
    struct tide_ranges ranges;
    uint64_t bytes, peak_bytes; /* committed and counted */
};

void tide_maps_release(struct tide_maps *maps);

/* Is the module at PATH one whose mappings are not counted? */
bool tide_maps_quiet_module(const char *path);

/* Take a MAP event of the process that MAPPED belongs to, in CONTEXT. */
enum tide_status tide_maps_event(struct tide_maps *maps, struct tide_mapped *mapped,
                                 const struct tide_event *event, uint32_t context);

/* The commit that holds ADDRESS: index + 1; 0: there is none. */
uint32_t tide_maps_commit_at(const struct tide_maps *maps,
                             const struct tide_mapped *mapped, uint64_t address);

/* The process ended: what it had mapped stands no more.  Releases MAPPED. */
enum tide_status tide_maps_retire(struct tide_maps *maps, struct tide_mapped *mapped);

#endif
