/* trace/mappings.h - which module stood at an address of a process, and when.
 *
 * For: trace/, tests/.
 */
#ifndef TIDE_TRACE_MAPPINGS_H
#define TIDE_TRACE_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/list.h"
#include "trace/trace.h"

struct tide_arena;

/* The mapping of PROCESS (borrowed) that held ADDRESS in EPOCH, or NULL. */
const struct tide_mapping *tide_mapping_find(const struct tide_process *process,
                                             uint64_t epoch, uint64_t address);

/* Which mappings ever held ADDRESS?  *COUNT counts down while there are more: at first it is
 * process->mapping_count.  NULL: there are no more. */
const struct tide_mapping *tide_mapping_ever(const struct tide_process *process,
                                             uint64_t address, size_t *count);

/* A mapping as a MODULE note gives it. */
struct tide_noted_mapping {
    struct tide_mapping mapping;
    uint64_t id;
    uint32_t process;
};

/* What a MODULE_GONE note says. */
struct tide_noted_end {
    uint64_t id, last_epoch;
    uint32_t process;
};

/* Give each of the COUNT processes its mappings, taken from MAPPINGS (of struct
 * tide_noted_mapping, in file order) and ENDS (of struct tide_noted_end).  They lie in
 * ARENA. */
enum tide_status tide_mappings_settle(struct tide_list *mappings,
                                      const struct tide_list *ends,
                                      struct tide_arena *arena,
                                      struct tide_process *processes, size_t count);

#endif
