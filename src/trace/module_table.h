/* trace/module_table.h - the modules of a trace: equal ones once.
 *
 * For: trace/, tests/.
 */
#ifndef TIDE_TRACE_MODULE_TABLE_H
#define TIDE_TRACE_MODULE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/cursor.h"
#include "trace/list.h"
#include "trace/trace.h"

struct tide_arena;

struct tide_module_table {
    struct tide_list modules; /* of struct tide_module */
    uint32_t *slots;          /* owned: number + 1, 0 is empty */
    size_t mask;
};

/* The number of the module with this PATH and BUILD_ID, new or known; the strings of a
 * new one are copied to ARENA.  The build-id becomes lower-case hex, whether it comes as
 * bytes or as hex. */
enum tide_status tide_module_table_find(struct tide_module_table *table,
                                        struct tide_arena *arena,
                                        struct tide_bytes path,
                                        struct tide_bytes build_id, uint32_t *out);

#endif
